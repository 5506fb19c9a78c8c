import AuthCore
import TestSupport
import Testing

/// On which domains a mailbox can be created, and what becomes of one.
struct MailboxRegistrarTests {
    private let world: AgentWorld
    private let secret = MailboxSecret.authKey([UInt8](repeating: 1, count: 32))

    init() throws {
        world = try AgentWorld()
    }

    private func registrar(_ accounts: (any AccountStore)? = nil) -> MailboxRegistrar {
        var stores = world.stores
        if let accounts { stores.accounts = accounts }
        return MailboxRegistrar(
            stores: stores, policy: AgentWorld.policy,
            hasher: PasswordHasher(
                settings: .init(memoryKiB: 8, iterations: 1, parallelism: 1), pool: .forTests(),
                random: world.random.make),
            settings: AccountsSettings(mailExchanger: AgentWorld.policy.agentDomain),
            random: world.random.make)
    }

    private func domain(_ text: String, for owner: User? = nil) async throws -> DomainID? {
        try await registrar().domain(of: try #require(Address(parsing: text)), for: owner)
    }

    private func add(
        _ text: String, on domain: DomainID? = nil, secret: MailboxSecret? = nil,
        owner: User? = nil, limit: Int? = nil, allowsReserved: Bool = false
    ) async throws -> Account {
        let world = world
        return try await registrar().add(
            try #require(Address(parsing: text)), on: domain, secret: secret ?? self.secret,
            owner: owner, limit: limit, allowsReserved: allowsReserved, for: nil
        ) { id in
            AuditEvent(
                .accountCreated, time: world.clock.now, actor: .account(id), subject: text)
        }
    }

    @Test func aConfiguredDomainIsForEverybodyAndHasNoID() async throws {
        let user = try await world.addUser("ada@example.test")
        #expect(try await domain("a@mail.test") == nil)
        #expect(try await domain("a@mail.test", for: user) == nil)
        // Whether the name is reserved is not decided here.
        #expect(try await domain("postmaster@mail.test") == nil)
    }

    @Test func aDomainOfTheOperatorIsForEverybodyOrForUsers() async throws {
        let user = try await world.addUser("ada@example.test")
        try await world.addDomain("open.test")
        try await world.addDomain("pro.test", isProOnly: true)
        #expect(try await domain("a@open.test") != nil)
        #expect(try await domain("a@pro.test", for: user) != nil)
        await #expect(throws: AccountsError.invalidDomain) { try await domain("a@pro.test") }
    }

    @Test func aDomainOfAUserIsForThatUserOnceItIsVerified() async throws {
        let user = try await world.addUser("ada@example.test")
        let other = try await world.addUser("other@example.test")
        let added = try await world.domains.add("own.test", for: user, by: world.caller).domain
        await #expect(throws: AccountsError.invalidDomain) {
            try await domain("a@own.test", for: user)
        }
        world.resolver.publish(
            text: "postern-verify=\(added.verifyToken)", at: "postern-verify.own.test")
        _ = try await world.domains.verify(added.id, of: user, by: world.caller)
        #expect(try await domain("a@own.test", for: user) == added.id)
        for anotherUser in [other, nil] {
            await #expect(throws: AccountsError.invalidDomain) {
                try await domain("a@own.test", for: anotherUser)
            }
        }
    }

    @Test(arguments: [
        ("a+b@mail.test", AccountsError.invalidAddress), ("a+b@foreign.test", .invalidAddress),
        ("a@localhost", .invalidAddress), ("a@foreign.test", .invalidDomain),
    ])
    func anAddressThatNoMailboxCanHaveIsInvalid(text: String, error: AccountsError) async throws {
        await #expect(throws: error) { try await domain(text) }
    }

    @Test func anAddressIsTakenOnce() async throws {
        let account = try await add("demo@mail.test")
        #expect(account.created == world.clock.now)
        await #expect(throws: AccountsError.addressTaken) { try await add("demo@mail.test") }
        #expect(try await world.events.map(\.actor) == [.account(account.id)])
    }

    @Test func aShortPasswordIsRejected() async throws {
        await #expect(throws: AccountsError.passwordTooShort) {
            try await add("demo@mail.test", secret: .password([1, 2, 3, 4, 5]))
        }
        #expect(try await world.events.isEmpty)
    }

    @Test func theLimitOfTheOwnerIsKeptByTheStore() async throws {
        let user = try await world.addUser("ada@example.test")
        _ = try await add("one@mail.test", owner: user, limit: 1)
        await #expect(throws: AccountsError.accountLimitReached) {
            try await add("two@mail.test", owner: user, limit: 1)
        }
        _ = try await add("two@mail.test", owner: user)
    }

    @Test func aReservedNameIsTakenUnlessItIsAllowed() async throws {
        await #expect(throws: AccountsError.addressTaken) { try await add("root@mail.test") }
        _ = try await add("root@mail.test", allowsReserved: true)
    }

    @Test func theLimitIsToldBeforeTheAddress() async throws {
        let user = try await world.addUser("ada@example.test")
        _ = try await add("one@mail.test", owner: user, limit: 1)
        for address in ["one@mail.test", "root@mail.test"] {
            await #expect(throws: AccountsError.accountLimitReached) {
                try await add(address, owner: user, limit: 1)
            }
        }
    }

    @Test func aDomainThatIsRemovedMeanwhileIsInvalid() async throws {
        let gone = DomainID(random: world.random.make(16))
        await #expect(throws: AccountsError.invalidDomain) {
            try await add("a@gone.test", on: gone)
        }
    }
}
