package import AuthCore
internal import Configuration
internal import Glibc
package import LocalMail
internal import Networking
internal import Platform

/// A server in the test profile that runs inside another program, for PosternTesting.
///
/// It installs no signal handlers and prints nothing. Its settings come from neither files nor
/// variables.
package final class EmbeddedServer: Sendable {
    /// The URL that it listens on.
    package let url: String
    package let fixtures: TestFixtures
    /// The mail in this process, unless the settings say otherwise.
    package let mail: LocalMail?
    /// Where ``mail`` is received by SMTP: host and port.
    package let smtpAddress: String?
    private let running: RunningService

    private init(_ running: RunningService, _ fixtures: TestFixtures) {
        url = running.address
        self.fixtures = fixtures
        mail = running.application.localMail?.mail
        smtpAddress = running.smtpAddress
        self.running = running
    }

    /// - Parameters:
    ///   - settings: by their keys, such as `users.registration`.
    ///   - descriptor: where the log goes, as JSON lines; nowhere unless given.
    /// - Throws: an error whose description says which settings are wrong, or why the server cannot
    ///   start.
    package static func start(
        settings: [String: String], log descriptor: Int32? = nil
    ) async throws -> EmbeddedServer {
        let loaded = try ConfigLoader(settings: settings).load()
        let log = Log(descriptor: descriptor ?? nowhere, format: .json)
        let running = try await Service(loaded, log: log).start()
        guard let fixtures = running.fixtures else {
            preconditionFailure("the test profile has fixtures")
        }
        return EmbeddedServer(running, fixtures)
    }

    /// The caller of ``fixtures``, and the time.
    package var caller: Caller {
        let clocks = fixtures.clock.clocks
        return Caller(
            address: IPAddress(v4: 0x7f00_0001), requestID: "", now: clocks.now(),
            arrival: clocks.monotonic())
    }

    /// Stops the server gracefully, as SIGTERM does.
    package func stop() async {
        // Waits for a key that is still being made. It would otherwise use OpenSSL while exit(3)
        // frees its locks. If making it fails, there is nothing to wait for.
        for use in KeyUse.allCases where use.isPublished {
            _ = try? await running.application.keys.published(use, at: fixtures.now)
        }
        await running.stop()
    }

    /// Never closed, because a line may be written after a stop.
    private static let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
}

extension ConfigLoader {
    /// The test profile on a free port, with settings that are not from the environment.
    fileprivate init(settings: [String: String]) {
        self.init(readFile: { _ throws(FileError) in throw .missing })
        environment = Dictionary(
            settings.map { (Setting.variable(of: $0.key), $0.value) },
            uniquingKeysWith: { $1 })
        flags = [
            Flag(key: "profile", name: "profile", value: "test"),
            Flag(key: "server.port", name: "server.port", value: "0"),
        ]
    }
}
