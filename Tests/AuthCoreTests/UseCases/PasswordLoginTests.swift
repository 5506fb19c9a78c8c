import AuthCore
import TestSupport
import Testing

/// What logins of mailboxes and logins of users have in common.
struct PasswordLoginTests {
    private let address = "demo@mail.test"
    private let email = "owner@example.test"
    private let right = MailboxSecret.authKey([UInt8](repeating: 1, count: 32))
    private let wrong = MailboxSecret.authKey([UInt8](repeating: 2, count: 32))

    /// A mailbox of a user, so that no proof of work is needed.
    private func mailbox(in world: AgentWorld) async throws -> Mailboxes.Opened {
        let user = try await world.addUser(email)
        return try await world.mailboxes.create(
            Mailboxes.New(address: address, secret: right, proof: nil), as: .user(user),
            by: world.caller)
    }

    private func stored(_ opened: Mailboxes.Opened, in world: AgentWorld) async throws -> (
        hash: String, version: Int64
    ) {
        let account = try #require(
            try await world.stores.accounts.account(id: opened.account.id))
        guard case .password(let hash) = account.credential else { throw AgentWorld.Unsolved() }
        return (hash.encoded, account.credentialVersion)
    }

    private func logIn(
        _ address: String, _ secret: MailboxSecret, in world: AgentWorld
    ) async throws -> Mailboxes.Opened {
        try await world.mailboxes.logIn(address: address, secret: secret, by: world.caller)
    }

    private func logIn(
        user email: String, _ password: String, in world: AgentWorld
    ) async throws -> UserSessions.Opened {
        try await world.users.logIn(
            email: email, password: Array(password.utf8), by: world.caller)
    }

    /// Expects that a login fails, and that it needs a place in the pool.
    private func expectHash(
        on held: HeldPool, sourceLocation: SourceLocation = #_sourceLocation,
        _ login: () async throws -> Void
    ) async {
        await #expect(
            throws: AccountsError.invalidCredentials, sourceLocation: sourceLocation
        ) {
            try await login()
        }
        held.fill()
        await #expect(
            throws: AccountsError.common(.busy(retryAfter: .seconds(1))),
            sourceLocation: sourceLocation
        ) {
            try await login()
        }
        held.empty()
    }

    @Test func aLoginReplacesAnOutdatedHashAndEndsNoToken() async throws {
        let before = try AgentWorld()
        let opened = try await mailbox(in: before)
        let old = try await stored(opened, in: before)
        #expect(old.hash.hasPrefix("$argon2id$v=19$m=8,t=1,p=1$"))
        let user = try await logIn(user: email, "propassword", in: before)

        let after = try AgentWorld(
            stores: before.stores, passwords: .init(memoryKiB: 16, iterations: 1, parallelism: 1))
        await #expect(throws: AccountsError.invalidCredentials) {
            try await logIn(address, wrong, in: after)
        }
        #expect(try await stored(opened, in: after).hash == old.hash)
        _ = try await logIn(address, right, in: after)
        let new = try await stored(opened, in: after)
        #expect(new.hash.hasPrefix("$argon2id$v=19$m=16,t=1,p=1$"))
        #expect(new.version == old.version)
        _ = try await logIn(user: email, "propassword", in: after)
        let newUser = try #require(try await after.stores.users.user(id: user.user.id))
        #expect(newUser.password?.encoded.hasPrefix("$argon2id$v=19$m=16,t=1,p=1$") == true)
        #expect(newUser.credentialVersion == user.user.credentialVersion)

        for token in [opened.token, user.token] {
            #expect(
                try await after.authenticator.grant(of: token, at: after.clock.now)?.principal
                    != nil)
        }
        // The new hash is one of the same password.
        _ = try await logIn(address, right, in: after)
        #expect(try await stored(opened, in: after) == new)
        _ = try await logIn(user: email, "propassword", in: after)
    }

    /// A full pool shows that each of these logins computes a hash. Without one, the response would
    /// come sooner and show that there is no such login.
    @Test func whateverCannotBeLoggedInToCostsAHashLikeAWrongPassword() async throws {
        let held = HeldPool()
        let world = try AgentWorld(hashing: held.pool)
        let opened = try await mailbox(in: world)
        let agent = Account(
            id: AccountID(random: world.random.make(16)),
            address: try #require(Address(parsing: "agent@mail.test")),
            credential: .apiKey(APIKeyDigest(bytes: world.random.make(32))), quota: 1,
            created: world.clock.now)
        let made = AuditEvent(
            .accountCreated, by: world.caller, actor: .operator, subject: "agent@mail.test")
        _ = try await world.stores.accounts.insert(agent, limit: nil, recording: made)

        for name in [address, "nobody@mail.test", "agent@mail.test"] {
            await expectHash(on: held) { _ = try await logIn(name, wrong, in: world) }
        }
        for name in [email, "nobody@example.test"] {
            await expectHash(on: held) { _ = try await logIn(user: name, "wrong", in: world) }
        }
        #expect(try await world.disable(opened.account.id))
        await expectHash(on: held) { _ = try await logIn(address, right, in: world) }
    }

    @Test func failuresAndSuccessesOfMailboxesAndUsersAreRecorded() async throws {
        let world = try AgentWorld()
        let opened = try await mailbox(in: world)
        let before = try await world.events.count
        _ = try? await logIn(address, wrong, in: world)
        _ = try? await logIn("nobody@mail.test", wrong, in: world)
        _ = try await logIn(address, right, in: world)
        _ = try? await logIn(user: "Nobody@Example.test", "wrong", in: world)
        let user = try await logIn(user: email, "propassword", in: world).user
        func event(
            _ kind: AuditEvent.Kind, _ actor: AuditEvent.Actor, _ subject: String
        ) -> AuditEvent {
            AuditEvent(kind, by: world.caller, actor: actor, subject: subject)
        }
        #expect(
            try await Array(world.events.dropFirst(before)) == [
                event(.loginFailed, .anonymous, address),
                event(.loginFailed, .anonymous, "nobody@mail.test"),
                event(.loginSucceeded, .account(opened.account.id), address),
                event(.loginFailed, .anonymous, "nobody@example.test"),
                event(.loginSucceeded, .user(user.id), email),
            ])
    }

    /// A user's email may be the address of a mailbox that belongs to somebody else.
    @Test func failuresOfAMailboxAndOfAUserOfOneNameAreCountedApart() async throws {
        let world = try AgentWorld()
        _ = try await mailbox(in: world)
        _ = try await world.addUser(address)
        func isLimited(_ login: () async throws -> Void) async -> Bool {
            let error = await #expect(throws: AccountsError.self) { try await login() }
            if case .common(.rateLimited) = error { return true }
            #expect(error == .invalidCredentials)
            return false
        }
        for number in 0..<5 {
            #expect(
                await !isLimited {
                    _ = try await logIn(user: address, "guess-\(number)", in: world)
                })
        }
        #expect(await isLimited { _ = try await logIn(user: address, "propassword", in: world) })
        #expect(await !isLimited { _ = try await logIn(address, wrong, in: world) })
        _ = try await logIn(address, right, in: world)
    }

    @Test func aSuccessClearsTheFailuresOfItsClient() async throws {
        let world = try AgentWorld()
        _ = try await mailbox(in: world)
        for round in 0..<3 {
            for number in 0..<5 {
                let secret = MailboxSecret.authKey(
                    [UInt8](repeating: UInt8(10 * round + number + 10), count: 32))
                await #expect(throws: AccountsError.invalidCredentials) {
                    try await logIn(address, secret, in: world)
                }
            }
            world.clock.advance(by: .seconds(1))
            _ = try await logIn(address, right, in: world)
        }
    }

    @Test func anUnreadableStoredHashIsAFailureAndNotAWrongPassword() async throws {
        let world = try AgentWorld()
        let account = Account(
            id: AccountID(random: world.random.make(16)),
            address: try #require(Address(parsing: address)),
            credential: .password(PasswordHash(encoded: "damaged")), quota: 1,
            created: world.clock.now)
        let made = AuditEvent(
            .accountCreated, by: world.caller, actor: .operator, subject: address)
        _ = try await world.stores.accounts.insert(account, limit: nil, recording: made)
        let error = await #expect(throws: AccountsError.self) {
            try await logIn(address, right, in: world)
        }
        guard case .common(.failed(let cause)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is PasswordHasher.UnreadableHash)
        #expect(try await world.events.map(\.kind) == [.accountCreated])
    }
}
