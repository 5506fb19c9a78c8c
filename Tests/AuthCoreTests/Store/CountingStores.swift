import AuthCore
import Synchronization

/// A store that counts its calls.
final class CountingUsers: UserStore {
    private let inner: any UserStore
    private let count = Mutex(0)

    init(_ inner: any UserStore) { self.inner = inner }

    var calls: Int { count.withLock { $0 } }

    func insert(_ user: User, recording event: AuditEvent) async throws -> Bool {
        count.withLock { $0 += 1 }
        return try await inner.insert(user, recording: event)
    }

    func user(id: UserID) async throws -> User? {
        count.withLock { $0 += 1 }
        return try await inner.user(id: id)
    }

    func user(email: Email) async throws -> User? {
        count.withLock { $0 += 1 }
        return try await inner.user(email: email)
    }

    func replacePassword(
        of id: UserID, at version: Int64, with password: PasswordHash, revokingTokens: Bool,
        recording event: AuditEvent
    ) async throws -> Bool {
        count.withLock { $0 += 1 }
        return try await inner.replacePassword(
            of: id, at: version, with: password, revokingTokens: revokingTokens, recording: event)
    }

    func rehash(_ id: UserID, from old: PasswordHash, to new: PasswordHash) async throws -> Bool {
        count.withLock { $0 += 1 }
        return try await inner.rehash(id, from: old, to: new)
    }

    func endSessions(
        of id: UserID, at version: Int64, recording event: AuditEvent
    ) async throws -> Bool {
        count.withLock { $0 += 1 }
        return try await inner.endSessions(of: id, at: version, recording: event)
    }
}

/// A store that counts its calls.
final class CountingLedger: ChallengeLedger {
    private let inner: any ChallengeLedger
    private let count = Mutex(0)

    init(_ inner: any ChallengeLedger) { self.inner = inner }

    var calls: Int { count.withLock { $0 } }

    func spend(_ id: String, expiry: Instant) async throws -> Bool {
        count.withLock { $0 += 1 }
        return try await inner.spend(id, expiry: expiry)
    }

    func hold(_ id: String, until expiry: Instant, at now: Instant) async throws -> Bool {
        count.withLock { $0 += 1 }
        return try await inner.hold(id, until: expiry, at: now)
    }

    func end(_ id: String, expiry: Instant, recording event: AuditEvent) async throws -> Bool {
        count.withLock { $0 += 1 }
        return try await inner.end(id, expiry: expiry, recording: event)
    }

    func restore(_ id: String) async throws {
        count.withLock { $0 += 1 }
        try await inner.restore(id)
    }

    func sweep(before instant: Instant, limit: Int) async throws -> Int {
        try await inner.sweep(before: instant, limit: limit)
    }
}
