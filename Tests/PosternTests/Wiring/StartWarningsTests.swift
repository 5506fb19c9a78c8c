import Configuration
import Platform
import TestPrimitives
import Testing

@testable import postern

struct StartWarningsTests {
    private static let setting = "storage.url = \"postgresql://a:secret@localhost/b\"\n"
    private let scratch = Scratch()

    private func warnings(
        _ text: String, mode: UInt32, environment: [String: String] = [:]
    ) throws -> (path: String, warnings: [String]) {
        let path = scratch.write("postern.toml", Array(text.utf8), mode: mode)
        let loaded = try ConfigLoader(path: path, environment: environment).load()
        return (path, loaded.startWarnings.filter { $0.contains("storage.url") })
    }

    @Test(arguments: [(UInt32(0o600), false), (0o640, true), (0o644, true)])
    func aConfigurationWithAPasswordThatOthersMayReadIsAWarning(
        mode: UInt32, isWarned: Bool
    ) throws {
        let (path, warnings) = try warnings(Self.setting, mode: mode)
        #expect(warnings.contains { $0.hasPrefix("storage.url: \(path) can be") } == isWarned)
        #expect(!warnings.contains { $0.contains("secret") })
    }

    @Test func aFileOfTheVariableIsAWarning() throws {
        let url = scratch.write("url", Array("postgresql://a:b@localhost/b".utf8), mode: 0o644)
        let (_, warnings) = try warnings(
            "", mode: 0o644, environment: ["POSTERN_STORAGE_URL_FILE": url])
        #expect(warnings.count == 1 && warnings[0].hasPrefix("storage.url: \(url) can be"))
    }

    @Test(arguments: ["postgresql://a@localhost/b", "sqlite:a:b@c.db"])
    func aURLWithoutAPasswordIsNone(url: String) throws {
        #expect(try warnings("storage.url = \"\(url)\"\n", mode: 0o644).warnings.isEmpty)
    }
}
