public import AuthCore
internal import Synchronization

/// Counts calls, and fails them while it has an error.
private final class Calls: Sendable {
    private struct State {
        var count = 0
        var error: (any Error)?
    }

    private let state: Mutex<State>

    init(_ error: (any Error)?) {
        state = Mutex(State(error: error))
    }

    var count: Int { state.withLock { $0.count } }

    var error: (any Error)? {
        get { state.withLock { $0.error } }
        set { state.withLock { $0.error = newValue } }
    }

    func begin() throws {
        let error = state.withLock { state in
            state.count += 1
            return state.error
        }
        if let error { throw error }
    }
}

/// An error that no part of the program knows.
public struct BrokenStore: Error {
    public let detail = "disk /dev/sda is gone"

    public init() {}
}

/// An account store that counts its calls and fails while it has an error.
public final class FailingAccounts: AccountStore {
    private let inner: any AccountStore
    private let log: Calls

    public init(_ inner: any AccountStore, _ error: (any Error)? = nil) {
        self.inner = inner
        log = Calls(error)
    }

    /// Calls so far, failed ones too.
    public var calls: Int { log.count }

    /// What every call throws from now on; `nil` when calls succeed.
    public var error: (any Error)? {
        get { log.error }
        set { log.error = newValue }
    }

    public func insert(
        _ account: Account, on domain: DomainID?, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion {
        try log.begin()
        return try await inner.insert(account, on: domain, limit: limit, recording: event)
    }

    public func account(id: AccountID) async throws -> Account? {
        try log.begin()
        return try await inner.account(id: id)
    }

    public func account(id: AccountID, unlessEnded tokenID: String) async throws -> Account? {
        try log.begin()
        return try await inner.account(id: id, unlessEnded: tokenID)
    }

    public func obstacle(
        to address: Address, of owner: UserID?, limit: Int?
    ) async throws -> AccountObstacle? {
        try log.begin()
        return try await inner.obstacle(to: address, of: owner, limit: limit)
    }

    public func account(address: Address) async throws -> Account? {
        try log.begin()
        return try await inner.account(address: address)
    }

    public func account(apiKey: APIKeyDigest) async throws -> Account? {
        try log.begin()
        return try await inner.account(apiKey: apiKey)
    }

    public func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential,
        recording event: AuditEvent
    ) async throws -> Bool {
        try log.begin()
        return try await inner.replaceCredential(
            of: id, at: version, with: credential, recording: event)
    }

    public func rehash(
        _ id: AccountID, from old: PasswordHash, to new: PasswordHash
    ) async throws -> Bool {
        try log.begin()
        return try await inner.rehash(id, from: old, to: new)
    }

    public func delete(
        _ id: AccountID, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        try log.begin()
        return try await inner.delete(id, at: version, recording: event)
    }
}

/// A store of signing keys that counts its reads and fails them while it has an error.
public final class FailingKeys: SigningKeyStore {
    private let inner: any SigningKeyStore
    private let log: Calls

    public init(_ inner: any SigningKeyStore, _ error: (any Error)? = nil) {
        self.inner = inner
        log = Calls(error)
    }

    public var reads: Int { log.count }

    public var error: (any Error)? {
        get { log.error }
        set { log.error = newValue }
    }

    public func keys() async throws -> [SealedKey] {
        try log.begin()
        return try await inner.keys()
    }

    public func changeCount() async throws -> Int64 { try await inner.changeCount() }

    public func insertFirst(_ key: SealedKey) async throws -> Bool {
        try await inner.insertFirst(key)
    }

    public func rotate(
        to key: SealedKey, replacing replaced: ReplacedKeys, retiring: Instant,
        recording event: AuditEvent
    ) async throws -> Bool {
        try await inner.rotate(
            to: key, replacing: replaced, retiring: retiring, recording: event)
    }

    public func reseal(
        recording event: AuditEvent,
        secrets: @escaping @Sendable (SealedSecret, _ sealed: [UInt8]) throws -> [UInt8],
        _ seal: @escaping @Sendable (SealedKey) throws -> [UInt8]
    ) async throws -> Int {
        try await inner.reseal(recording: event, secrets: secrets, seal)
    }

    public func removeRetired(before instant: Instant) async throws -> Int {
        try await inner.removeRetired(before: instant)
    }
}

/// A store of spent challenges that fails every call.
public struct FailingChallenges: ChallengeLedger {
    private let error: any Error

    public init(_ error: any Error) {
        self.error = error
    }

    public func spend(_ id: String, expiry: Instant) async throws -> Bool { throw error }
    public func hold(
        _ id: String, until expiry: Instant, at now: Instant
    ) async throws -> Bool {
        throw error
    }
    public func end(
        _ id: String, expiry: Instant, recording event: AuditEvent
    ) async throws -> Bool {
        throw error
    }
    public func restore(_ id: String) async throws { throw error }
    public func sweep(before instant: Instant, limit: Int) async throws -> Int { throw error }
}

/// A store of registrations that fails every call.
public struct FailingHashLogins: HashLoginStore {
    private let error: any Error

    public init(_ error: any Error) {
        self.error = error
    }

    public func insert(_ login: HashLogin, recording event: AuditEvent) async throws -> Bool {
        throw error
    }

    public func hashLogin(email: Email) async throws -> HashLogin? { throw error }

    public func endLogins(
        of email: Email, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        throw error
    }
}

/// Registrations where another logout with the same token is stored before each one.
public struct OvertakenLogouts: HashLoginStore {
    private let store: any HashLoginStore

    public init(store: any HashLoginStore) {
        self.store = store
    }

    public func insert(_ login: HashLogin, recording event: AuditEvent) async throws -> Bool {
        try await store.insert(login, recording: event)
    }

    public func hashLogin(email: Email) async throws -> HashLogin? {
        try await store.hashLogin(email: email)
    }

    public func endLogins(
        of email: Email, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        _ = try await store.endLogins(of: email, at: version, recording: event)
        return try await store.endLogins(of: email, at: version, recording: event)
    }
}
