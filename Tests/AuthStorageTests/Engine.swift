import AuthCore
import Glibc
import Synchronization
import Testing

@testable import AuthStorage

/// What every engine implements.
typealias EngineStore = AccountStore & AccountDirectory & AccountFeed & DeliveryQueue & UserStore
    & UserDirectory & UserSessionStore & PasskeyStore & SecondFactorStore & IdentityStore
    & EmailLinkStore
    & HoldingStore & APITokenStore & DomainStore & DomainDirectory & HashLoginStore
    & HashLoginDirectory & AuditLog
    & WebhookStore & WebhookQueue
    & ChallengeLedger & SigningKeyStore & ResettableStore

/// The engines that the conformance suite runs on. A new engine needs one case here.
enum Engine: CaseIterable, Sendable {
    case sqliteMemory, sqliteFile, postgres

    /// The engines whose database several servers can open.
    static let shared: [Engine] = [.sqliteFile, .postgres]

    /// Opens a store on a new, empty database.
    func open() async throws -> any EngineStore {
        switch self {
        case .sqliteMemory: try SQLiteStore.open(.memory, at: .epoch)
        case .sqliteFile, .postgres: try await openShared(count: 1)[0]
        }
    }

    /// Opens several stores on one new, empty database, as that many servers would.
    func openShared(count: Int) async throws -> [any EngineStore] {
        switch self {
        case .sqliteMemory: throw NotShared()
        case .sqliteFile:
            let directory = try TemporaryDirectory()
            Self.directories.withLock { $0.append(directory) }
            var settings = SQLiteSettings()
            // SQLite's writers wait for each other by polling, which takes long on a busy machine.
            settings.busyTimeout = .seconds(30)
            return try (0..<count).map { _ in try directory.open(settings) }
        case .postgres:
            let url = try TestServer.shared.makeDatabase()
            var stores: [PostgresStore] = []
            for _ in 0..<count {
                let store = try await PostgresStore.open(
                    url, settings: TestServer.settings, at: .epoch)
                // Otherwise the suite lacks the trait.
                try #require(IndexesAreUsed.current).add(store)
                stores.append(store)
            }
            return stores
        }
    }

    private struct NotShared: Error {}

    /// A store does not own its directory, so the directories stay until the process ends.
    private static let directories: Mutex<[TemporaryDirectory]> = {
        atexit { Engine.forget() }
        return Mutex([])
    }()

    private static func forget() {
        directories.withLock { $0 = [] }
    }
}

/// A new directory, removed with the last reference to it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/postern-storage-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw StorageFixtureFailure(errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in Self.names(in: path) { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    var database: String { "\(path)/postern.db" }

    func open(_ settings: SQLiteSettings = SQLiteSettings()) throws -> SQLiteStore {
        try SQLiteStore.open(.file(database), settings: settings, at: .epoch)
    }

    static func names(in path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

struct StorageFixtureFailure: Error {
    let errno: Int32
}
