import AuthCore
import AuthStorage
import Glibc

typealias Stores = AccountStore & AccountDirectory & ChallengeLedger & SigningKeyStore

/// Every engine that has to keep the protocols' word: one case, and the whole suite runs on it.
enum Engine: CaseIterable, Sendable {
    case memory, sqliteMemory, sqliteFile

    /// A new, empty store.
    func open() throws -> any Stores {
        switch self {
        case .memory: return MemoryStore()
        case .sqliteMemory: return try SQLiteStore.open(.memory, at: .epoch)
        case .sqliteFile:
            let directory = try TemporaryDirectory()
            return FileStore(store: try directory.open(), directory: directory)
        }
    }
}

/// A directory of its own, gone with the last reference.
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

/// A store on a file that keeps its directory for as long as it lives.
private struct FileStore: Stores {
    let store: SQLiteStore
    let directory: TemporaryDirectory

    func insert(_ account: Account) async throws -> Bool { try await store.insert(account) }
    func account(id: AccountID) async throws -> Account? { try await store.account(id: id) }
    func account(address: Address) async throws -> Account? {
        try await store.account(address: address)
    }
    func account(apiKey: APIKeyDigest) async throws -> Account? {
        try await store.account(apiKey: apiKey)
    }
    func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential
    ) async throws -> Bool {
        try await store.replaceCredential(of: id, at: version, with: credential)
    }
    func setState(of id: AccountID, to state: Account.State) async throws -> Bool {
        try await store.setState(of: id, to: state)
    }
    func delete(_ id: AccountID, at version: Int64?) async throws -> Bool {
        try await store.delete(id, at: version)
    }
    func free(_ address: Address) async throws -> Bool { try await store.free(address) }
    func accounts(after address: Address?, limit: Int) async throws -> [Account] {
        try await store.accounts(after: address, limit: limit)
    }
    func spend(_ id: String, expiry: Instant) async throws -> Bool {
        try await store.spend(id, expiry: expiry)
    }
    func restore(_ id: String) async throws { try await store.restore(id) }
    func sweep(before instant: Instant, limit: Int) async throws -> Int {
        try await store.sweep(before: instant, limit: limit)
    }
    func keys() async throws -> [SealedKey] { try await store.keys() }
    func insertFirst(_ key: SealedKey) async throws -> Bool { try await store.insertFirst(key) }
    func rotate(to key: SealedKey, retiring: Instant) async throws {
        try await store.rotate(to: key, retiring: retiring)
    }
    func removeRetired(before instant: Instant) async throws -> Int {
        try await store.removeRetired(before: instant)
    }
}
