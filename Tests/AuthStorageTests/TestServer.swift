import Glibc
import Synchronization

@testable import AuthStorage

/// The PostgreSQL server on which tests make their databases.
final class TestServer: Sendable {
    static let shared = TestServer()

    /// Fewer connections than a server has, because many tests run at once; and a busy machine may
    /// be slow.
    static let settings: PostgresSettings = {
        var settings = PostgresSettings()
        settings.connections = 4
        settings.waitTimeout = .seconds(60)
        settings.statementTimeout = .seconds(60)
        settings.sessionTimeout = .seconds(60)
        settings.lockTimeout = .seconds(50)
        settings.pingTimeout = .seconds(300)
        return settings
    }()

    struct Missing: Error, CustomStringConvertible {
        let description =
            "TEST_POSTGRES is not set: run the tests with `make test`, or under"
            + " .ci/with-postgres, which starts a server for them"
    }

    private struct State {
        var template: String?
        var count = 0
    }

    private let state = Mutex(State())

    /// Makes a new database.
    /// - Parameter isMigrated: whether it has the tables of the program.
    func makeDatabase(isMigrated: Bool = true) throws -> PostgresURL {
        try state.withLock { state in
            state.count += 1
            let name = "test_\(getpid())_\(state.count)"
            guard isMigrated else {
                try execute("CREATE DATABASE \(name)")
                return try url(of: name)
            }
            if state.template == nil {
                let template = "test_\(getpid())_template"
                try execute("CREATE DATABASE \(template)")
                _ = try PostgresMigrator(try url(of: template)).migrate(at: .epoch)
                state.template = template
            }
            // By copying its files, which takes half of the time.
            try execute(
                "CREATE DATABASE \(name) TEMPLATE \(state.template ?? "") STRATEGY FILE_COPY")
            return try url(of: name)
        }
    }

    /// A connection of its own to a database, on which a transaction may stay open.
    func connect(to url: PostgresURL) throws -> PostgresHandle {
        let handle = try PostgresHandle(url, settings: Self.settings)
        try handle.execute(
            script: "SET idle_in_transaction_session_timeout = 0", name: "waitLong")
        return handle
    }

    /// The URL of a database as clients behind the proxy use it.
    func url(of database: PostgresURL, behind proxy: CuttingProxy) throws -> PostgresURL {
        let path = try socketDirectory()
        guard
            let url = PostgresURL(
                database.text.replacing("host=\(path)", with: "host=\(proxy.directory.path)"))
        else { throw Missing() }
        return url
    }

    /// The directory of the server's socket.
    func socketDirectory() throws -> String {
        let text = try url(of: "postgres").text
        guard let start = text.firstRange(of: "host=")?.upperBound else { throw Missing() }
        return String(text[start...].prefix { $0 != "&" })
    }

    private func execute(_ script: String) throws {
        let handle = try connect(to: try url(of: "postgres"))
        try handle.execute(script: script, name: "test")
    }

    private func url(of database: String) throws -> PostgresURL {
        guard let text = getenv("TEST_POSTGRES").map({ String(cString: $0) }),
            let url = PostgresURL(
                text.replacing("/postgres?", with: "/\(database)?", maxReplacements: 1))
        else { throw Missing() }
        return url
    }
}
