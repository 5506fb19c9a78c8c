import AuthCore
import HTTPEngine
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import AuthAPI

/// Logins that a change of the user's credentials overtakes: it has ended the user's other sessions
/// before the login opens its own.
struct RemovedFactorTests: ProviderTests {
    let api: APIWorld
    private let store: OvertakenSessions

    init() throws {
        var stores = try AgentWorld().stores
        store = OvertakenSessions(stores.userSessions)
        stores.userSessions = store
        api = try APIWorld(AgentWorld(stores: stores))
    }

    private func sessions() async throws -> Int {
        let user = try await api.user()
        return try await store.sessions(of: user.id, at: api.world.clock.now).count
    }

    /// Does `change` with the user's first session when the next one is about to be added.
    private func overtake(_ change: @escaping @Sendable () async -> Void) {
        store.change.withLock { $0 = change }
    }

    @Test func noSessionOpensWithARemovedPasskey() async throws {
        let pro = try await api.pro()
        var authenticator = try api.authenticator()
        let made = try await api.register(authenticator, bearer: pro)
        let id = try #require(try made.json.text("id"))
        authenticator.count = 1
        overtake { [api] in
            let removed = await api.send(.delete, "/passkeys/\(id)", bearer: pro)
            #expect(removed.status == .noContent)
        }
        try expectError(
            await api.logIn(with: authenticator, of: try await api.user()), 401,
            "invalid_credentials")
        #expect(try await sessions() == 1)
    }

    @Test func noSessionOpensWithARemovedPasskeyAsTheSecondFactor() async throws {
        let pro = try await api.pro()
        let authenticator = try api.authenticator()
        let made = try await api.register(authenticator, bearer: pro)
        let id = try #require(try made.json.text("id"))
        _ = try await api.enableTOTP(pro)
        let challenge = try await api.secondFactorChallenge(["totp", "recovery_code", "passkey"])
        let options = try await api.options(
            "/login/passkey/options", json: #"{"challenge":"\#(challenge)"}"#)
        let credential = try api.credential(authenticator, options.challenge, user: nil)
        overtake { [api] in
            let removed = await api.send(.delete, "/passkeys/\(id)", bearer: pro)
            #expect(removed.status == .noContent)
        }
        try expectError(
            await api.second(challenge, #""credential":\#(credential)"#), 401,
            "invalid_credentials")
        #expect(try await sessions() == 1)
    }

    @Test func noSessionOpensWithARecoveryCodeOfAReplacedList() async throws {
        let pro = try await api.pro()
        let (_, codes) = try await api.enableTOTP(pro)
        let challenge = try await api.secondFactorChallenge()
        overtake { [api] in
            let replaced = await api.send(.post, "/recovery-codes", bearer: pro)
            #expect(replaced.status == .created)
        }
        let code = try #require(codes.first)
        try expectError(
            await api.second(challenge, #""recovery_code":"\#(code)""#), 401,
            "invalid_credentials")
        #expect(try await sessions() == 1)
    }

    @Test func noSessionOpensWithCodesThatWereTurnedOff() async throws {
        let pro = try await api.pro()
        let (secret, _) = try await api.enableTOTP(pro)
        let challenge = try await api.secondFactorChallenge()
        overtake { [api] in
            #expect(await api.send(.delete, "/totp", bearer: pro).status == .noContent)
        }
        try expectError(
            await api.second(challenge, #""code":"\#(api.code(secret))""#), 401,
            "invalid_credentials")
        #expect(try await sessions() == 1)
    }

    @Test func noSessionOpensWithAnUnlinkedIdentity() async throws {
        let pro = try await api.pro()
        _ = try await link(ada, to: pro)
        let id = try #require(try await identities(pro).first?.text("id"))
        overtake { [api] in
            let unlinked = await api.send(.delete, "/identities/\(id)", bearer: pro)
            #expect(unlinked.status == .noContent)
        }
        try expectError(await signIn(ada), 401, "invalid_credentials")
        #expect(try await sessions() == 1)
    }
}

/// Runs something once before it adds a session of a passkey, of a provider or with a second factor.
private final class OvertakenSessions: UserSessionStore {
    let change = Mutex<(@Sendable () async -> Void)?>(nil)
    private let inner: any UserSessionStore

    init(_ inner: any UserSessionStore) {
        self.inner = inner
    }

    func insert(
        _ session: UserSession, at version: Int64, hasSecondFactor: Bool, limit: Int,
        recording event: AuditEvent?
    ) async throws -> UserSessionInsertion {
        if hasSecondFactor || [.passkey, .provider("id")].contains(session.method) {
            await change.withLock { $0.take() }?()
        }
        return try await inner.insert(
            session, at: version, hasSecondFactor: hasSecondFactor, limit: limit,
            recording: event)
    }

    func holder(of id: UserSessionID) async throws -> (session: UserSession, owner: User)? {
        try await inner.holder(of: id)
    }

    func sessions(of owner: UserID, at now: Instant) async throws -> [UserSession] {
        try await inner.sessions(of: owner, at: now)
    }

    func endSession(
        _ id: UserSessionID, of owner: UserID, recording event: AuditEvent
    ) async throws -> Bool {
        try await inner.endSession(id, of: owner, recording: event)
    }

    func endSessions(
        of owner: UserID, except id: UserSessionID, recording event: AuditEvent
    ) async throws -> Bool {
        try await inner.endSessions(of: owner, except: id, recording: event)
    }

    func noteUse(of id: UserSessionID, at now: Instant, unlessSince since: Instant) async throws {
        try await inner.noteUse(of: id, at: now, unlessSince: since)
    }

    func sweepSessions(before instant: Instant, limit: Int) async throws -> Int {
        try await inner.sweepSessions(before: instant, limit: limit)
    }
}
