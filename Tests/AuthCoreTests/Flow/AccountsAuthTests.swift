import AuthCore
import Synchronization
import TestSupport
import Testing

/// Rules of the accounts surface that no single request shows.
@Suite struct AccountsAuthTests {
    private let address = "demo@mail.test"
    private let right = MailboxSecret.password(Array("supersecret".utf8))
    private let wrong = MailboxSecret.password(Array("wrongwrong".utf8))

    /// An account of a Pro user of its own, so that no proof of work is needed.
    private func account(in world: AgentWorld) async throws -> OpenAccount {
        let user = try await world.addUser("owner@example.test")
        return try await world.accounts.createAccount(
            NewAccount(address: address, secret: right, proof: nil), as: .user(user),
            by: world.caller)
    }

    private func stored(_ open: OpenAccount, in world: AgentWorld) async throws -> (
        hash: String, version: Int64
    ) {
        let account = try #require(try await world.stores.accounts.account(id: open.account.id))
        guard case .password(let hash) = account.credential else { throw AgentWorld.Unsolved() }
        return (hash.encoded, account.credentialVersion)
    }

    @Test func aLoginHashesAnewWhenTheSettingHasMovedUpAndEndsNoToken() async throws {
        let before = try AgentWorld()
        try await before.keys.start()
        let open = try await account(in: before)
        let old = try await stored(open, in: before)
        #expect(old.hash.hasPrefix("$argon2id$v=19$m=8,t=1,p=1$"))
        let user = try await before.accounts.loginUser(
            email: "owner@example.test", password: Array("propassword".utf8), by: before.caller)

        let after = try AgentWorld(
            stores: before.stores, passwords: .init(memoryKiB: 16, iterations: 1, parallelism: 1))
        try await after.keys.start()
        await #expect(throws: Refusal.invalidCredentials) {
            try await after.accounts.login(address: address, secret: wrong, by: after.caller)
        }
        #expect(try await stored(open, in: after).hash == old.hash)
        _ = try await after.accounts.login(address: address, secret: right, by: after.caller)
        let new = try await stored(open, in: after)
        #expect(new.hash.hasPrefix("$argon2id$v=19$m=16,t=1,p=1$"))
        #expect(new.version == old.version)
        _ = try await after.accounts.loginUser(
            email: "owner@example.test", password: Array("propassword".utf8), by: after.caller)
        let newUser = try #require(try await after.stores.users.user(id: user.user.id))
        #expect(newUser.password.encoded.hasPrefix("$argon2id$v=19$m=16,t=1,p=1$"))

        for token in [open.token, user.token] {
            if case .invalid = try await after.accounts.identify(token, at: after.clock.now) {
                Issue.record("a token died of a new hash")
            }
        }
        // The new hash is one of the same password.
        _ = try await after.accounts.login(address: address, secret: right, by: after.caller)
        #expect(try await stored(open, in: after) == new)
    }

    @Test func whoeverCannotBeOpenedCostsOneHashLikeAWrongPassword() async throws {
        let workers = CountingWorkers()
        let world = try AgentWorld(hashing: workers)
        try await world.keys.start()
        let open = try await account(in: world)
        let agent = try #require(Address(parsing: "agent@mail.test"))
        let mailbox = Account(
            id: AccountID(random: world.random.make(16)), address: agent,
            credential: .apiKey(APIKeyDigest(bytes: world.random.make(32))), quota: 1,
            created: world.clock.now)
        let made = AuditEvent(
            .accountCreated, by: world.caller, actor: "operator", subject: "agent")
        _ = try await world.stores.accounts.insert(mailbox, limit: nil, recording: made)

        func cost(_ attempt: () async throws -> Void) async -> Int {
            let before = workers.jobs
            await #expect(throws: Refusal.invalidCredentials) { try await attempt() }
            return workers.jobs - before
        }
        func login(_ address: String, _ secret: MailboxSecret) async -> Int {
            await cost {
                _ = try await world.accounts.login(
                    address: address, secret: secret, by: world.caller)
            }
        }
        #expect(await login(address, wrong) == 1)
        #expect(await login("nobody@mail.test", wrong) == 1)
        #expect(await login("agent@mail.test", wrong) == 1)
        for email in ["owner@example.test", "nobody@example.test"] {
            let jobs = await cost {
                _ = try await world.accounts.loginUser(
                    email: email, password: Array("wrong".utf8), by: world.caller)
            }
            #expect(jobs == 1)
        }
        #expect(try await world.disable(open.account.id))
        #expect(await login(address, right) == 1)
    }

    @Test func aDisabledAccountIsOutAtOnce() async throws {
        let world = try AgentWorld()
        try await world.keys.start()
        let open = try await account(in: world)
        #expect(try await world.disable(open.account.id))
        await #expect(throws: Refusal.invalidCredentials) {
            try await world.accounts.login(address: address, secret: right, by: world.caller)
        }
        guard
            case .invalid = try await world.accounts.identify(open.token, at: world.clock.now)
        else {
            Issue.record("the token of a disabled account still opens it")
            return
        }
    }

    @Test func whatCameInBeforeAResetChangesNothingAfterIt() async throws {
        let world = try AgentWorld()
        try await world.keys.start()
        let open = try await account(in: world)
        let early = try await world.accounts.identify(open.token, at: world.clock.now)
        let reference = AccountReference(address)
        try await world.accounts.resetPassword(
            of: reference, to: wrong, as: early, by: world.caller)
        await #expect(throws: Refusal.invalidToken) {
            try await world.accounts.resetPassword(
                of: reference, to: right, as: early, by: world.caller)
        }
        await #expect(throws: Refusal.invalidToken) {
            try await world.accounts.deleteAccount(reference, as: early, by: world.caller)
        }
        _ = try await world.accounts.login(address: address, secret: wrong, by: world.caller)
    }
}

/// Counts the jobs that run.
private final class CountingWorkers: Workers {
    private let count = Mutex(0)

    var jobs: Int { count.withLock { $0 } }

    func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T {
        try await InlineWorkers { self.count.withLock { $0 += 1 } }.withPlace(body)
    }
}
