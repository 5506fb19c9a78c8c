import AuthCore
import Logging
import StrictJSON
import Synchronization
import TestPrimitives
import Testing

@testable import Configuration
@testable import Platform
@testable import postern

@Suite struct ReloaderTests {
    private struct Unusable: Error, CustomStringConvertible {
        let description = "cannot be applied"
    }

    private final class State: Sendable {
        let applied = Mutex<[Config]>([])
        let text = Mutex("")
    }

    /// What the file says, the configurations that were applied, and the log.
    private final class World {
        let state = State()
        private let pipe = Pipe()
        private let log: Log

        init(_ text: String) {
            log = Log(descriptor: pipe.writer, format: .json)
            set(text)
        }

        var applied: [Config] { state.applied.withLock { $0 } }

        func reloader(isReadable: Bool = true, fails: Bool = false) throws -> Reloader {
            let loader = ConfigLoader(readFile: { [state] _ throws(FileError) in
                state.text.withLock { $0 }
            }
            )
            return Reloader(
                loader, present: try loader.load(), logger: log.logger,
                isReadable: { _ throws(FileError) in isReadable }
            ) { [state] config in
                if fails { throw Unusable() }
                state.applied.withLock { $0.append(config) }
            }
        }

        func set(_ text: String) { state.text.withLock { $0 = text } }

        func logged() async throws -> [JSONObject] {
            await log.writer.drain()
            return try pipe.drained().split(separator: "\n").compactMap {
                try JSONValue.parse(Array($0.utf8)).object
            }
        }
    }

    @Test func whatNeedsARestartKeepsItsValue() async throws {
        let world = World("limits.pro_per_second = 30")
        var reloader = try world.reloader()
        world.set("limits.pro_per_second = 40\nserver.port = 9\nstorage.connections = 5")
        #expect(await reloader.reload())
        let config = try #require(world.applied.last)
        #expect(config.limits.proPerSecond == 40)
        #expect(config.server.port == 8080 && config.storage.connections == 16)
        // It is still to come, whatever was reloaded before.
        world.set("server.port = 9")
        #expect(await reloader.reload())
        let lines = try await world.logged()
        let settings = lines.map { ($0["level"]?.string, $0["setting"]?.string, $0["new"]?.string) }
        #expect(
            settings.map(\.0) == [
                "notice", "warning", "warning", "notice", "notice", "warning", "notice",
            ])
        #expect(
            settings.map(\.1) == [
                "limits.pro_per_second", "server.port", "storage.connections", nil,
                "limits.pro_per_second", "server.port", nil,
            ])
        #expect(settings.map(\.2) == ["40", "9", "5", nil, "20", "9", nil])
    }

    @Test func everyFaultIsLoggedAndNothingChanges() async throws {
        let world = World("")
        var reloader = try world.reloader()
        world.set("limits.pro_per_second = 0\nmail.domains = [\"x\", \"x\"]\nno.such = 1")
        #expect(await reloader.reload() == false)
        #expect(world.applied.isEmpty)
        let lines = try await world.logged()
        #expect(lines.filter { $0["fault"] != nil }.count == 3)
        #expect(lines.allSatisfy { $0["level"] == .string("error") })
    }

    @Test func whatCannotBeAppliedIsTriedAgain() async throws {
        let world = World("")
        var reloader = try world.reloader(fails: true)
        world.set("limits.pro_per_second = 40")
        #expect(await reloader.reload() == false)
        #expect(await reloader.reload() == false)
        let lines = try await world.logged()
        #expect(
            lines.map { $0["exception.message"]?.string } == [
                "cannot be applied", "cannot be applied",
            ])
    }

    /// The parser would end this process.
    @Test func aTextThatTheParserCannotReadIsNotParsed() async throws {
        let world = World("")
        var reloader = try world.reloader(isReadable: false)
        world.set("limits.pro_per_second = 40")
        #expect(await reloader.reload() == false)
        #expect(try await world.logged().first?["fault"]?.string?.contains("not TOML") == true)
    }
}
