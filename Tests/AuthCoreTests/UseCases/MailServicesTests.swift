import AuthCore
import Cryptography
import Networking
import Scheduling
import TestSupport
import Testing

/// What mail stores and proxies learn about the credentials of end users.
struct MailServicesTests {
    private let world: AgentWorld
    private let address = "demo@mail.test"
    private let secret = MailboxSecret.password(Array("supersecret".utf8))
    private let wrong = MailboxSecret.password(Array("not the password".utf8))

    init() throws {
        world = try AgentWorld()
    }

    private func mailbox(
        _ address: String = "demo@mail.test", in other: AgentWorld? = nil
    ) async throws -> Mailboxes.Opened {
        let world = other ?? self.world
        let user = try await world.addUser("owner-of-\(address)")
        return try await world.mailboxes.create(
            Mailboxes.New(address: address, secret: secret, proof: nil), as: .user(user),
            by: world.caller)
    }

    private func capability(of token: String) async throws -> String {
        let session = try await world.agents.authenticate(
            sessionOrEmail: token, at: world.clock.now)
        return try await world.agents.issueCapability(for: session, by: world.caller).token
    }

    private func isActive(_ token: String) async throws -> Bool {
        try await world.mailServices.introspect(token, at: world.clock.now) != nil
    }

    private func logIn(
        _ user: String, _ secret: MailboxSecret
    ) async throws -> MailServices.Mailbox {
        try await world.mailServices.logIn(user, secret, by: world.caller)
    }

    private func expect(
        _ error: ServicesError, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        await #expect(throws: error, sourceLocation: sourceLocation) { try await body() }
    }

    // MARK: Tokens

    @Test func aCapabilityAndAnEmailJWTAreActive() async throws {
        let opened = try await mailbox()
        let token = try await capability(of: opened.token)
        let now = world.clock.now
        let found = try #require(try await world.mailServices.introspect(token, at: now))
        #expect(found.mailbox.name == address && found.mailbox.account.id == opened.account.id)
        #expect(found.issuer == AgentWorld.issuer && found.audience == "api-service")
        #expect(found.issued.seconds == now.seconds && found.expiry.seconds == now.seconds + 120)
        let email = try #require(try await world.mailServices.introspect(opened.token, at: now))
        #expect(email.mailbox.name == address)
        #expect(email.audience == AgentWorld.issuer + "/api/accounts")
        #expect(email.expiry.since(email.issued) == .seconds(7 * 86_400))
    }

    @Test func tokensForOtherThingsAreNotActive() async throws {
        let (session, key) = try await world.signUp("myagent")
        let challenge = try await world.agents.issueChallenge(to: world.caller)
        for token in [session.token, key.secret, challenge.token, "", "a.b.c"] {
            #expect(try await !isActive(token))
        }
    }

    @Test func aTokenEndsAtOnceWithItsAccount() async throws {
        let opened = try await mailbox()
        let tokens = [opened.token, try await capability(of: opened.token)]
        for token in tokens { #expect(try await isActive(token)) }
        #expect(try await world.disable(opened.account.id))
        for token in tokens { #expect(try await !isActive(token)) }
    }

    @Test func anEmailJWTEndsWithItsPasswordAndByItself() async throws {
        let opened = try await mailbox()
        let again = try await world.mailboxes.logIn(
            address: address, secret: secret, by: world.caller)
        let grant = try #require(
            try await world.authenticator.grant(of: again.token, at: world.clock.now))
        try await world.mailboxes.logOut(
            try #require(grant.session), of: again.account, by: world.caller)
        #expect(try await !isActive(again.token))
        #expect(try await isActive(opened.token))
        let access = try await world.mailboxes.access(
            to: .id(opened.account.id), as: .account(opened.account))
        try await world.mailboxes.resetPassword(of: access, to: wrong, by: world.caller)
        #expect(try await !isActive(opened.token))
    }

    @Test func theMailStoresNameIsGivenOnlyWhereItIsUnique() async throws {
        let world = try AgentWorld(mailSubject: .localPart)
        try await world.addDomain("other.test")
        let first = try await mailbox(in: world)
        let other = try await mailbox("demo@other.test", in: world)
        let now = world.clock.now
        let found = try await world.mailServices.introspect(first.token, at: now)
        #expect(found?.mailbox.name == "demo")
        #expect(try await world.mailServices.introspect(other.token, at: now) == nil)
        let byName = try await world.mailServices.logIn("demo", secret, by: world.caller)
        #expect(byName.account.id == first.account.id)
        await expect(.subjectNotUnique(first: "mail.test")) {
            _ = try await world.mailServices.logIn("demo@other.test", secret, by: world.caller)
        }
    }

    // MARK: Passwords

    @Test func aPasswordItsAuthKeyAndAnAPIKeyOpenTheMailbox() async throws {
        let opened = try await mailbox()
        let found = try await logIn(" Demo@MAIL.test ", secret)
        #expect(found.account.id == opened.account.id && found.name == address)
        let key = try secret.authKey(at: opened.account.address)
        #expect(try await logIn(address, .authKey(key)).account.id == opened.account.id)
        let (session, apiKey) = try await world.signUp("myagent")
        let agent = try await logIn("myagent@mail.test", .password(Array(apiKey.secret.utf8)))
        #expect(agent.account.id == session.account.id)
    }

    @Test func nothingElseDoes() async throws {
        _ = try await mailbox()
        let (_, apiKey) = try await world.signUp("myagent")
        let key = MailboxSecret.password(Array(apiKey.secret.utf8))
        for (user, secret) in [
            (address, wrong), (address, key), ("nobody-here@mail.test", secret),
            ("myagent@mail.test", wrong), ("myagent@mail.test", secret), ("demo", secret),
            ("", secret), ("no address", secret),
            ("myagent@mail.test", .authKey([UInt8](repeating: 0, count: 32))),
        ] {
            await expect(.invalidCredentials) { _ = try await logIn(user, secret) }
        }
        // An API key is not a password of the accounts API.
        await #expect(throws: AccountsError.invalidCredentials) {
            try await world.mailboxes.logIn(
                address: "myagent@mail.test", secret: key, by: world.caller)
        }
    }

    @Test func onlyTheRightPasswordShowsThatAnAccountIsDisabled() async throws {
        let opened = try await mailbox()
        let (session, apiKey) = try await world.signUp("myagent")
        let key = MailboxSecret.password(Array(apiKey.secret.utf8))
        #expect(try await world.disable(opened.account.id))
        #expect(try await world.disable(session.account.id))
        await expect(.disabled) { _ = try await logIn(address, secret) }
        await expect(.invalidCredentials) { _ = try await logIn(address, wrong) }
        await expect(.disabled) { _ = try await logIn("myagent@mail.test", key) }
        await expect(.invalidCredentials) { _ = try await logIn("myagent@mail.test", wrong) }
    }

    /// Otherwise the time would show which addresses are agents'.
    @Test func aWrongAPIKeyIsHashedLikeAWrongPassword() async throws {
        let held = HeldPool()
        let world = try AgentWorld(hashing: held.pool)
        let (_, apiKey) = try await world.signUp("myagent")
        held.fill()
        for user in ["myagent@mail.test", "nobody-here@mail.test"] {
            await expect(.common(.busy(retryAfter: .seconds(1)))) {
                _ = try await world.mailServices.logIn(user, wrong, by: world.caller)
            }
        }
        // The right one costs no hash.
        _ = try await world.mailServices.logIn(
            "myagent@mail.test", .password(Array(apiKey.secret.utf8)), by: world.caller)
        held.empty()
    }

    @Test func failuresAreCountedByTheReportedClientTogetherWithOtherLogins() async throws {
        _ = try await mailbox()
        let attacker = caller(0xc633_6401)
        for number in 0..<5 {
            if number.isMultiple(of: 2) {
                await expect(.invalidCredentials) {
                    _ = try await world.mailServices.logIn(address, wrong, by: attacker)
                }
            } else {
                await #expect(throws: AccountsError.invalidCredentials) {
                    try await world.mailboxes.logIn(address: address, secret: wrong, by: attacker)
                }
            }
        }
        let limited = await #expect(throws: ServicesError.self) {
            try await world.mailServices.logIn(address, secret, by: attacker)
        }
        guard case .common(.rateLimited)? = limited else {
            Issue.record("\(String(describing: limited))")
            return
        }
        _ = try await world.mailServices.logIn(address, secret, by: caller(0xcb00_7101))
    }

    @Test func theRightAPIKeyWaitsLikeTheRightPassword() async throws {
        let (_, apiKey) = try await world.signUp("myagent")
        let attacker = caller(0xc633_6401)
        for _ in 0..<5 {
            await expect(.invalidCredentials) {
                _ = try await world.mailServices.logIn("myagent@mail.test", wrong, by: attacker)
            }
        }
        let limited = await #expect(throws: ServicesError.self) {
            try await world.mailServices.logIn(
                "myagent@mail.test", .password(Array(apiKey.secret.utf8)), by: attacker)
        }
        guard case .common(.rateLimited)? = limited else {
            Issue.record("\(String(describing: limited))")
            return
        }
    }

    @Test func successesAreRecordedOnceAnHourForEachClient() async throws {
        _ = try await mailbox()
        func successes() async throws -> Int {
            try await world.events.count { $0.kind == .loginSucceeded }
        }
        for _ in 0..<3 { _ = try await logIn(address, secret) }
        #expect(try await successes() == 1)
        _ = try await world.mailServices.logIn(address, secret, by: caller(0xcb00_7101))
        #expect(try await successes() == 2)
        world.clock.advance(by: .seconds(3601))
        _ = try await logIn(address, secret)
        #expect(try await successes() == 3)
        await expect(.invalidCredentials) { _ = try await logIn(address, wrong) }
        let last = try #require(try await world.events.last)
        #expect(last.kind == .loginFailed && last.subject == address)
        #expect(last.client == AgentWorld.client.description)
    }

    @Test func aBusyStoreIsBusyAndNoAbsence() async throws {
        let stores = try AgentWorld().stores
        let accounts = FailingAccounts(stores.accounts)
        let world = try AgentWorld(stores: stores, accounts: accounts)
        let opened = try await mailbox(in: world)
        let session = try await world.agents.authenticate(
            sessionOrEmail: opened.token, at: world.clock.now)
        let capability = try await world.agents.issueCapability(for: session, by: world.caller)
        accounts.error = StoreBusy()
        for token in [opened.token, capability.token] {
            await expect(.common(.busy(retryAfter: .seconds(1)))) {
                _ = try await world.mailServices.introspect(token, at: world.clock.now)
            }
        }
        await expect(.common(.busy(retryAfter: .seconds(1)))) {
            _ = try await world.mailServices.logIn(address, secret, by: world.caller)
        }
    }

    // MARK: Proxies and usage

    @Test func aProxyLetsTokensAndPasswordsPass() async throws {
        let opened = try await mailbox()
        let services = world.mailServices
        for credential in [
            MailServices.EndUserCredential.token(opened.token),
            .token(try await capability(of: opened.token)),
            .password(user: address, secret),
        ] {
            let found = try await services.authorize(credential, by: world.caller)
            #expect(found.account.id == opened.account.id)
        }
        await expect(.missingToken) { _ = try await services.authorize(nil, by: world.caller) }
        await expect(.invalidToken) {
            _ = try await services.authorize(.token(""), by: world.caller)
        }
        await expect(.invalidCredentials) {
            _ = try await services.authorize(.password(user: address, wrong), by: world.caller)
        }
    }

    @Test func aStoreTokenIsAMinimalCapabilityThatIsActive() async throws {
        let opened = try await mailbox()
        let found = try await world.mailServices.authorize(
            .token(opened.token), by: world.caller)
        let token = try await world.mailServices.storeToken(for: found, to: world.caller)
        let read = try await world.tokens.read(
            token, as: MinimalCapabilityToken.self, at: world.clock.now)
        #expect(read?.token.subject == address)
        #expect(try await isActive(token))
        world.clock.advance(by: .seconds(120))
        #expect(try await !isActive(token))
    }

    @Test func usageIsStoredAndUnknownAddressesAreReported() async throws {
        let opened = try await mailbox()
        let unknown = try await world.mailServices.note([
            ("Demo@mail.test", 7), ("nobody-here@mail.test", 8), ("no address", 9), ("demo", 10),
        ])
        #expect(unknown == ["no address", "demo", "nobody-here@mail.test"])
        #expect(try await world.stores.accounts.account(id: opened.account.id)?.used == 7)
    }

    /// A mail store reports what it calls its mailboxes.
    @Test(arguments: [MailSubject.localPart, .accountID])
    func usageIsReportedByTheNamesOfTheMailStore(subject: MailSubject) async throws {
        let other = try AgentWorld(mailSubject: subject)
        let account = try await mailbox(in: other).account
        let name = subject == .localPart ? "demo" : account.id.text
        let missing = subject == .localPart ? "nobody-here" : AccountID(random: .init(0..<16)).text
        #expect(try await other.mailServices.note([(name, 7), (missing, 8)]) == [missing])
        #expect(try await other.stores.accounts.account(id: account.id)?.used == 7)
    }

    private func caller(_ client: UInt32) -> Caller {
        Caller(
            address: IPAddress(v4: client), requestID: "test-2", now: world.clock.now,
            arrival: world.clock.monotonic)
    }
}

extension MailboxSecret {
    /// What a client derives from the password.
    fileprivate func authKey(at address: Address) throws -> [UInt8] {
        guard case .password(let password) = self else { throw AgentWorld.Unsolved() }
        return try Argon2.hash(
            password: password, salt: SHA256.digest(Array(address.description.utf8)),
            iterations: 3, memoryKiB: 16_384, parallelism: 1, outputBytes: 32, variant: .argon2id)
    }
}
