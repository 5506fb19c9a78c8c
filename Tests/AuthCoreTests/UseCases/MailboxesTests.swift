import AuthCore
import TestSupport
import Testing

struct MailboxesTests {
    private let world: AgentWorld
    private let address = "demo@mail.test"
    private let secret = MailboxSecret.authKey([UInt8](repeating: 1, count: 32))
    private let newSecret = MailboxSecret.authKey([UInt8](repeating: 2, count: 32))

    init() throws {
        world = try AgentWorld()
    }

    private func solvedChallenge(
        in world: AgentWorld
    ) async throws -> (challenge: String, proof: Proof) {
        let issued = try await world.mailboxes.issueChallenge(to: world.caller)
        return (issued.token, try AgentWorld.solve(issued.challenge))
    }

    /// A mailbox of `owner`, or a free one for a proof of work.
    private func create(
        _ address: String, owner: User? = nil, in other: AgentWorld? = nil
    ) async throws -> Mailboxes.Opened {
        let world = other ?? self.world
        let proof = owner == nil ? try await solvedChallenge(in: world) : nil
        return try await world.mailboxes.create(
            Mailboxes.New(address: address, secret: secret, proof: proof),
            as: owner.map { .user($0) }, by: world.caller)
    }

    private func principal(_ token: String) async throws -> Principal {
        try #require(
            try await world.authenticator.grant(of: token, at: world.clock.now)?.principal)
    }

    private func access(_ opened: Mailboxes.Opened) async throws -> Mailboxes.Access {
        try await world.mailboxes.access(
            to: .id(opened.account.id), as: try await principal(opened.token))
    }

    // MARK: Creating

    @Test func aFreeMailboxHasTheFreeQuotaAndOneOfAUserTheProQuota() async throws {
        let user = try await world.addUser("owner@example.test")
        let free = try await create(address).account
        let owned = try await create("owned@mail.test", owner: user).account
        #expect(free.quota == 41_943_040 && free.owner == nil)
        #expect(owned.quota == 52_428_800 && owned.owner == user.id)
    }

    @Test func anEmailJWTCountsAsNoToken() async throws {
        let own = try await create(address)
        let new = Mailboxes.New(address: "other@mail.test", secret: secret, proof: nil)
        await #expect(throws: AccountsError.proofRequired) {
            try await world.mailboxes.create(
                new, as: try await principal(own.token), by: world.caller)
        }
        let (challenge, proof) = try await solvedChallenge(in: world)
        let opened = try await world.mailboxes.create(
            Mailboxes.New(address: "other@mail.test", secret: secret, proof: (challenge, proof)),
            as: try await principal(own.token), by: world.caller)
        #expect(opened.account.owner == nil)
    }

    @Test func whatFailsBeforeTheProofSpendsNoChallenge() async throws {
        let proof = try await solvedChallenge(in: world)
        func create(_ address: String, _ secret: MailboxSecret) async throws {
            _ = try await world.mailboxes.create(
                Mailboxes.New(address: address, secret: secret, proof: proof), as: nil,
                by: world.caller)
        }
        await #expect(throws: AccountsError.invalidAddress) { try await create("demo", secret) }
        await #expect(throws: AccountsError.invalidDomain) {
            try await create("demo@foreign.test", secret)
        }
        await #expect(throws: AccountsError.passwordTooShort) {
            try await create(address, .password([1, 2, 3, 4, 5]))
        }
        try await create(address, secret)
        await #expect(throws: AccountsError.invalidChallenge) {
            try await create("other@mail.test", secret)
        }
    }

    @Test func aWrongSolutionSpendsTheChallenge() async throws {
        let (challenge, proof) = try await solvedChallenge(in: world)
        for (proof, error) in [
            (Proof(nonce: nil), AccountsError.wrongProof), (proof, .invalidChallenge),
        ] {
            await #expect(throws: error) {
                try await world.mailboxes.create(
                    Mailboxes.New(address: address, secret: secret, proof: (challenge, proof)),
                    as: nil, by: world.caller)
            }
        }
    }

    @Test func aFullPoolGivesTheChallengeBack() async throws {
        let held = HeldPool(isFull: true)
        let world = try AgentWorld(hashing: held.pool)
        let new = Mailboxes.New(
            address: address, secret: secret, proof: try await solvedChallenge(in: world))
        await #expect(throws: AccountsError.common(.busy(retryAfter: .seconds(1)))) {
            try await world.mailboxes.create(new, as: nil, by: world.caller)
        }
        held.empty()
        _ = try await world.mailboxes.create(new, as: nil, by: world.caller)
    }

    @Test func aBusyStoreGivesTheChallengeBackAndABrokenOneDoesNot() async throws {
        let accounts = FailingAccounts(world.stores.accounts, StoreBusy())
        let world = try AgentWorld(stores: world.stores, accounts: accounts)
        let new = Mailboxes.New(
            address: address, secret: secret, proof: try await solvedChallenge(in: world))
        func create() async throws {
            _ = try await world.mailboxes.create(new, as: nil, by: world.caller)
        }
        await #expect(throws: AccountsError.common(.busy(retryAfter: .seconds(1)))) {
            try await create()
        }
        accounts.error = BrokenStore()
        await #expect(throws: AccountsError.common(.failed(BrokenStore()))) { try await create() }
        accounts.error = nil
        await #expect(throws: AccountsError.invalidChallenge) { try await create() }
    }

    @Test func aCreationThatFailsGivesItsRateLimitTokenBack() async throws {
        let world = try AgentWorld(
            limits: true, rates: [.proCreation: .init(1, per: .seconds(8))])
        let user = try await world.addUser("owner@example.test")
        for owner in [nil, user] {
            let name = owner == nil ? "free" : "owned"
            _ = try await create("\(name)@mail.test", owner: owner, in: world)
            let error = await #expect(throws: AccountsError.self) {
                try await create("another@mail.test", owner: owner, in: world)
            }
            guard case .common(.rateLimited(let limited)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(limited.retryAfter == .seconds(8))
            world.clock.advance(by: .seconds(8))
            await #expect(throws: AccountsError.addressTaken) {
                try await create("\(name)@mail.test", owner: owner, in: world)
            }
            _ = try await create("\(name)2@mail.test", owner: owner, in: world)
            world.clock.advance(by: .seconds(8))
        }
    }

    @Test func theLimitOfAUserIsCheckedBeforeTheAddress() async throws {
        let user = try await world.addUser("owner@example.test")
        for number in 0..<7 { _ = try await create("box\(number)@mail.test", owner: user) }
        for name in ["box0", "postmaster", "new"] {
            await #expect(throws: AccountsError.accountLimitReached) {
                try await create("\(name)@mail.test", owner: user)
            }
        }
        let other = try await world.addUser("other@example.test")
        for name in ["box0", "postmaster"] {
            await #expect(throws: AccountsError.addressTaken) {
                try await create("\(name)@mail.test", owner: other)
            }
        }
    }

    // MARK: Access

    @Test func anEmailJWTGivesAccessToItsOwnMailboxOnly() async throws {
        let own = try await create(address)
        let other = try await create("other@mail.test")
        let principal = try await principal(own.token)
        for reference in [Mailboxes.Reference(own.account.id.text), .init("Demo@Mail.test")] {
            let access = try await world.mailboxes.access(to: reference, as: principal)
            #expect(access.account == own.account)
        }
        for reference in [
            .id(other.account.id), .address(other.account.address),
            Mailboxes.Reference("nobody@mail.test"), nil,
        ] {
            await #expect(throws: AccountsError.forbidden) {
                try await world.mailboxes.access(to: reference, as: principal)
            }
        }
    }

    @Test func aUserHasAccessToTheMailboxesTheyOwnOnly() async throws {
        let user = try await world.addUser("owner@example.test")
        let owned = try await create("owned@mail.test", owner: user)
        let free = try await create(address)
        for reference in [
            Mailboxes.Reference.id(owned.account.id), .address(owned.account.address),
        ] {
            let access = try await world.mailboxes.access(to: reference, as: .user(user))
            #expect(access.account == owned.account)
        }
        for reference in [
            .id(free.account.id), .address(free.account.address),
            Mailboxes.Reference("nobody@mail.test"), nil,
        ] {
            await #expect(throws: AccountsError.notFound) {
                try await world.mailboxes.access(to: reference, as: .user(user))
            }
        }
    }

    @Test(arguments: ["", "demo", "@", "a1b2c3d4", "demo@mail test"])
    func aTextThatIsNeitherAnIDNorAnAddressIsNoReference(text: String) {
        #expect(Mailboxes.Reference(text) == nil)
    }

    // MARK: Passwords

    @Test func aDisabledMailboxHasNoLoginAndNoValidToken() async throws {
        let opened = try await create(address)
        #expect(try await world.disable(opened.account.id))
        await #expect(throws: AccountsError.invalidCredentials) {
            try await world.mailboxes.logIn(address: address, secret: secret, by: world.caller)
        }
        await #expect(throws: AccountsError.invalidToken) {
            try await principal(opened.token)
        }
    }

    @Test func aResetInvalidatesRequestsThatWereAuthenticatedBeforeIt() async throws {
        let opened = try await create(address)
        let early = try await access(opened)
        try await world.mailboxes.resetPassword(of: early, to: newSecret, by: world.caller)
        await #expect(throws: AccountsError.invalidToken) {
            try await world.mailboxes.resetPassword(of: early, to: secret, by: world.caller)
        }
        await #expect(throws: AccountsError.invalidToken) {
            try await world.mailboxes.delete(early, by: world.caller)
        }
        await #expect(throws: AccountsError.invalidCredentials) {
            try await world.mailboxes.logIn(address: address, secret: secret, by: world.caller)
        }
        _ = try await world.mailboxes.logIn(address: address, secret: newSecret, by: world.caller)
    }

    @Test func theLaterOfTwoResetsByTheOwnerCounts() async throws {
        let user = try await world.addUser("owner@example.test")
        let owned = try await create(address, owner: user)
        let early = try await world.mailboxes.access(
            to: .id(owned.account.id), as: .user(user))
        try await world.mailboxes.resetPassword(of: early, to: newSecret, by: world.caller)
        try await world.mailboxes.resetPassword(of: early, to: secret, by: world.caller)
        _ = try await world.mailboxes.logIn(address: address, secret: secret, by: world.caller)
    }

    @Test func aMailboxThatIsDeletedMeanwhileIsNotFoundByItsOwner() async throws {
        let user = try await world.addUser("owner@example.test")
        let owned = try await create(address, owner: user)
        let early = try await world.mailboxes.access(
            to: .id(owned.account.id), as: .user(user))
        try await world.mailboxes.delete(early, by: world.caller)
        await #expect(throws: AccountsError.notFound) {
            try await world.mailboxes.resetPassword(of: early, to: newSecret, by: world.caller)
        }
        await #expect(throws: AccountsError.notFound) {
            try await world.mailboxes.delete(early, by: world.caller)
        }
    }

    @Test func theOwnerCannotResetADisabledMailbox() async throws {
        let user = try await world.addUser("owner@example.test")
        let owned = try await create(address, owner: user)
        #expect(try await world.disable(owned.account.id))
        let access = try await world.mailboxes.access(
            to: .id(owned.account.id), as: .user(user))
        await #expect(throws: AccountsError.forbidden) {
            try await world.mailboxes.resetPassword(of: access, to: newSecret, by: world.caller)
        }
        // The owner may delete it all the same.
        try await world.mailboxes.delete(access, by: world.caller)
        #expect(try await world.stores.accounts.account(id: owned.account.id) == nil)
    }

    @Test func aShortPasswordChangesNothing() async throws {
        let opened = try await create(address)
        await #expect(throws: AccountsError.passwordTooShort) {
            try await world.mailboxes.resetPassword(
                of: try await access(opened), to: .password([1, 2, 3, 4, 5]), by: world.caller)
        }
        _ = try await world.mailboxes.logIn(address: address, secret: secret, by: world.caller)
    }

    @Test func eventsNameTheMailboxOrItsOwnerAsTheActor() async throws {
        let user = try await world.addUser("owner@example.test")
        let free = try await create(address)
        let owned = try await create("owned@mail.test", owner: user)
        try await world.mailboxes.resetPassword(
            of: try await access(free), to: newSecret, by: world.caller)
        let login = try await world.mailboxes.logIn(
            address: address, secret: newSecret, by: world.caller)
        try await world.mailboxes.delete(try await access(login), by: world.caller)
        let owner = try await world.mailboxes.access(
            to: .id(owned.account.id), as: .user(user))
        try await world.mailboxes.resetPassword(of: owner, to: newSecret, by: world.caller)
        try await world.mailboxes.delete(owner, by: world.caller)
        func event(
            _ kind: AuditEvent.Kind, _ actor: AuditEvent.Actor, _ subject: String
        ) -> AuditEvent {
            AuditEvent(kind, by: world.caller, actor: actor, subject: subject)
        }
        let own = AuditEvent.Actor.account(free.account.id)
        #expect(
            try await Array(world.events.dropFirst()) == [
                event(.accountCreated, own, address),
                event(.accountCreated, .user(user.id), "owned@mail.test"),
                event(.credentialReset, own, address), event(.loginSucceeded, own, address),
                event(.accountDeleted, own, address),
                event(.credentialReset, .user(user.id), "owned@mail.test"),
                event(.accountDeleted, .user(user.id), "owned@mail.test"),
            ])
    }

    // MARK: Pages

    @Test func aPageHasThreeMailboxesAndACursorUnlessItIsTheLast() async throws {
        let user = try await world.addUser("owner@example.test")
        let other = try await world.addUser("other@example.test")
        _ = try await create("other@mail.test", owner: other)
        var created: [AccountID] = []
        for number in 0..<6 {
            let opened = try await create("box\(number)@mail.test", owner: user)
            created.append(opened.account.id)
            world.clock.advance(by: .seconds(1))
        }
        let first = try await world.mailboxes.list(of: user, after: nil)
        #expect(first.next != nil)
        let second = try await world.mailboxes.list(of: user, after: first.next)
        #expect(first.accounts.map(\.id) == Array(created[..<3]))
        #expect(second.accounts.map(\.id) == Array(created[3...]))
        #expect(second.next == nil)
    }
}
