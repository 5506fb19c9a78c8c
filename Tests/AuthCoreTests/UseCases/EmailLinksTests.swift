import AuthCore
import AuthStorage
import Networking
import TestSupport
import Testing

/// Links by mail: to verify an email and to set a new password.
struct EmailLinksTests {
    private let world: AgentWorld
    private let email = "ada@example.test"

    init() throws {
        world = try AgentWorld(registrationIsOpen: true)
    }

    private func request(
        _ email: String, in other: AgentWorld? = nil, from address: IPAddress = AgentWorld.client
    ) async throws {
        let world = other ?? self.world
        let caller = Caller(
            address: address, requestID: "test", now: world.clock.now,
            arrival: world.clock.monotonic)
        try await world.emailLinks.requestReset(of: email, by: caller)
    }

    private func reset(
        _ token: String, to password: String = "another password", revoking: Bool = false,
        in other: AgentWorld? = nil
    ) async throws {
        let world = other ?? self.world
        try await world.emailLinks.resetPassword(
            by: token, to: Array(password.utf8), revokesAPITokens: revoking, by: world.caller)
    }

    private func logIn(_ password: String, _ email: String? = nil) async throws {
        _ = try await world.users.logIn(
            email: email ?? self.email, password: Array(password.utf8), by: world.caller)
    }

    /// The token of a link that was sent.
    private func link() async throws -> String {
        try await request(email)
        return try #require(try await world.mailer.takeTokens().first)
    }

    private func user() async throws -> User {
        let email = try #require(Email(parsing: email))
        return try #require(try await world.stores.users.user(email: email))
    }

    @Test func aLinkSetsANewPasswordOnce() async throws {
        _ = try await world.addUser(email)
        let token = try await link()
        try await reset(token)
        try await logIn("another password")
        await #expect(throws: AccountsError.invalidCredentials) { try await logIn("propassword") }
        await #expect(throws: AccountsError.invalidLink) {
            try await reset(token, to: "a third one")
        }
        #expect(try await user().emailVerified == world.clock.now)
        #expect(try await world.mailer.takeNotices() == [.passwordReset])
    }

    @Test func aResetEndsSessionsAndEveryOtherLink() async throws {
        let opened = try await world.users.register(
            email: email, password: Array("propassword".utf8), by: world.caller)
        _ = try await world.mailer.take()
        let (first, second) = (try await link(), try await link())
        try await reset(first)
        await #expect(throws: AccountsError.invalidToken) {
            _ = try await world.authenticator.grant(of: opened.token, at: world.clock.now)
        }
        await #expect(throws: AccountsError.invalidLink) { try await reset(second) }
    }

    @Test func aLinkIsValidFor30Minutes() async throws {
        _ = try await world.addUser(email)
        let (first, second) = (try await link(), try await link())
        world.clock.advance(by: .seconds(1_799))
        try await reset(first)
        _ = try await world.mailer.take()
        let third = try await link()
        world.clock.advance(by: .seconds(1_800))
        for token in [second, third] {
            await #expect(throws: AccountsError.invalidLink) { try await reset(token) }
        }
    }

    @Test func aPasswordThatIsRejectedLeavesTheLinkValid() async throws {
        _ = try await world.addUser(email)
        let token = try await link()
        await #expect(throws: AccountsError.passwordTooShort) {
            try await reset(token, to: "short")
        }
        await #expect(throws: AccountsError.passwordTooCommon) { try await reset(token, to: email) }
        try await reset(token)
    }

    @Test func ofManyUsesOfALinkOneSucceeds() async throws {
        _ = try await world.addUser(email)
        let token = try await link()
        let wins = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<8 {
                group.addTask {
                    (try? await reset(token, to: "new password \(number)")) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(wins == 1)
    }

    @Test(arguments: [
        "", "x", String(repeating: "A", count: 43), String(repeating: "A", count: 44),
    ])
    func whatIsNoTokenIsNoLink(text: String) async throws {
        await #expect(throws: AccountsError.invalidLink) { try await reset(text) }
        await #expect(throws: AccountsError.invalidLink) {
            try await world.emailLinks.verifyEmail(by: text, by: world.caller)
        }
    }

    /// Turns one-time codes on without a secret.
    private func enableTOTP(of user: User) async throws {
        let totp = StoredTOTP(
            owner: user.id, sealedSecret: [1], lastStep: 1, created: world.clock.now)
        let event = AuditEvent(
            .totpEnabled, by: world.caller, actor: .user(user.id), subject: email)
        #expect(
            try await world.stores.secondFactors.insert(
                totp, recoveryCodes: [], recording: event, ending: nil))
    }

    private func asksForASecondFactor() async throws -> Bool {
        do {
            try await logIn("another password")
            return false
        } catch AccountsError.secondFactorRequired {
            return true
        }
    }

    @Test func theSecondFactorOfAVerifiedUserStays() async throws {
        let opened = try await world.users.register(
            email: email, password: Array("propassword".utf8), by: world.caller)
        try await world.emailLinks.verifyEmail(
            by: #require(try await world.mailer.takeTokens().first), by: world.caller)
        try await enableTOTP(of: opened.user)
        try await reset(try await link())
        #expect(try await asksForASecondFactor())
    }

    @Test func whoeverRegisteredTheEmailOfAnotherPersonIsLockedOutByItsFirstReset() async throws {
        try await enableTOTP(of: world.addUser(email))
        try await reset(try await link())
        #expect(try await !asksForASecondFactor())
        // Whoever has turned codes on since then is the person with the email.
        try await enableTOTP(of: user())
        try await reset(try await link())
        #expect(try await asksForASecondFactor())
    }

    /// API tokens end though nobody has asked for it.
    @Test func theFirstResetEndsTheTokensOfWhoeverRegisteredTheEmail() async throws {
        func makeToken() async throws -> String {
            try await world.apiTokens.create(
                named: "a", lifetime: nil, for: user(), by: world.caller
            ).secret
        }
        func isValid(_ secret: String) async -> Bool {
            (try? await world.authenticator.grant(of: secret, at: world.clock.now)) != nil
        }
        _ = try await world.addUser(email)
        let first = try await makeToken()
        try await reset(try await link())
        #expect(await !isValid(first))
        let second = try await makeToken()
        try await reset(try await link())
        #expect(await isValid(second))
    }

    /// The operator has passed it on to somebody, who need not read the mail.
    @Test func theOperatorsLinkLeavesTheOtherCredentials() async throws {
        let user = try await world.addUser(email)
        try await enableTOTP(of: user)
        let token = try #require(
            try await EmailLinks.makeReset(
                of: user, in: world.stores.emailLinks, random: world.random.make,
                recording: AuditEvent(
                    .resetLinkCreated, by: world.caller, actor: .operator, subject: email)))
        try await reset(String(token.url(for: .operatorReset, on: "").suffix(43)))
        #expect(try await asksForASecondFactor())
        #expect("\(token)" == "<redacted>")
    }

    // MARK: Who gets a link

    @Test func nobodyElseGetsALink() async throws {
        let user = try await world.addUser(email)
        try await request("eve@example.test")
        _ = try await world.stores.userDirectory.setState(
            of: user.id, to: .disabled,
            recording: AuditEvent(
                .userDisabled, by: world.caller, actor: .operator, subject: email))
        try await request(email)
        #expect(try await world.mailer.take().isEmpty)
        #expect(try await !world.events.map(\.kind).contains(.resetLinkCreated))
    }

    @Test func aUserWithoutAPasswordGetsALinkOnceTheEmailIsVerified() async throws {
        for (number, verified) in [nil, world.clock.now].enumerated() {
            let text = "user\(number)@example.test"
            let user = User(
                id: UserID(random: [UInt8](repeating: UInt8(number), count: 16)),
                email: try #require(Email(parsing: text)), password: nil,
                created: world.clock.now, emailVerified: verified)
            _ = try await world.stores.users.insert(
                user,
                recording: AuditEvent(
                    .userCreated, by: world.caller, actor: .anonymous, subject: text))
            try await request(text)
            let tokens = try await world.mailer.takeTokens()
            #expect(tokens.count == (verified == nil ? 0 : 1))
            guard let token = tokens.first else { continue }
            try await reset(token)
            try await logIn("another password", text)
        }
    }

    /// The answer depends on nothing that is looked up, so it takes the same work.
    @Test func aRequestLooksNobodyUp() async throws {
        var stores = try Database.openInMemory()
        let users = CountingUsers(stores.users)
        stores.users = users
        let ledger = CountingLedger(stores.challenges)
        stores.challenges = ledger
        let world = try AgentWorld(stores: stores, limits: true)
        _ = try await world.addUser(email)
        var work: [[Int]] = []
        for (number, text) in [email, "eve@example.test"].enumerated() {
            let before = (users.calls, ledger.calls)
            let client = IPAddress(v4: 0xc633_6400 + UInt32(number))
            try await request(text, in: world, from: client)
            work.append([users.calls - before.0, ledger.calls - before.1])
            #expect(world.mailer.clients == [client])
            _ = try await world.mailer.take()
        }
        #expect(work == [[0, 3], [0, 3]])
    }

    // MARK: Limits

    private func limited(_ seconds: Int) -> AccountsError {
        .common(.rateLimited(RateLimited(retryAfter: .seconds(seconds))))
    }

    @Test func aClientAsksForOneLinkInEightSeconds() async throws {
        let world = try AgentWorld(limits: true)
        try await request("a@example.test", in: world)
        await #expect(throws: AccountsError.self) {
            try await request("b@example.test", in: world)
        }
        world.clock.advance(by: .seconds(8))
        try await request("b@example.test", in: world)
    }

    @Test func aRequestThatCannotBeQueuedCostsNothing() async throws {
        let world = try AgentWorld(limits: true)
        _ = try await world.addUser(email)
        world.mailer.isFull = true
        for _ in 0..<5 {
            await #expect(throws: AccountsError.common(.busy(retryAfter: .seconds(10)))) {
                try await request(email, in: world)
            }
        }
        world.mailer.isFull = false
        try await request(email, in: world)
        #expect(try await world.mailer.take().count == 1)
    }

    @Test func withoutARelayThereAreNoLinksButTheOperators() async throws {
        let world = try AgentWorld(sendsMail: false)
        let user = try await world.addUser(email)
        await #expect(throws: AccountsError.mailerMissing) { try await request(email, in: world) }
        await #expect(throws: AccountsError.mailerMissing) {
            try await world.emailLinks.requestVerification(of: user, by: world.caller)
        }
        let token = try #require(
            try await EmailLinks.makeReset(
                of: user, in: world.stores.emailLinks, random: world.random.make,
                recording: AuditEvent(
                    .resetLinkCreated, by: world.caller, actor: .operator, subject: email)))
        let url = token.url(for: .operatorReset, on: "https://x.test")
        #expect(url.hasPrefix("https://x.test/reset-password#"))
        try await reset(String(url.suffix(43)), in: world)
        let changed = try #require(try await world.stores.users.user(id: user.id))
        #expect(changed.credentialVersion == 2 && changed.emailVerified == nil)
    }

    // MARK: Verification

    @Test func aRegistrationSendsALinkThatVerifiesTheEmailOnce() async throws {
        let opened = try await world.users.register(
            email: email, password: Array("propassword".utf8), by: world.caller)
        #expect(opened.user.emailVerified == nil)
        let token = try #require(try await world.mailer.takeTokens().first)
        world.clock.advance(by: .seconds(86_399))
        try await world.emailLinks.verifyEmail(by: token, by: world.caller)
        #expect(try await user().emailVerified == world.clock.now)
        #expect(try await world.events.last?.kind == .emailVerified)
        await #expect(throws: AccountsError.invalidLink) {
            try await world.emailLinks.verifyEmail(by: token, by: world.caller)
        }
        await #expect(throws: AccountsError.emailVerified) {
            try await world.emailLinks.requestVerification(of: user(), by: world.caller)
        }
    }

    @Test func aVerificationIsValidFor24Hours() async throws {
        _ = try await world.users.register(
            email: email, password: Array("propassword".utf8), by: world.caller)
        let token = try #require(try await world.mailer.takeTokens().first)
        world.clock.advance(by: .seconds(86_400))
        await #expect(throws: AccountsError.invalidLink) {
            try await world.emailLinks.verifyEmail(by: token, by: world.caller)
        }
    }

    @Test func aLinkIsForOnePurpose() async throws {
        let opened = try await world.users.register(
            email: email, password: Array("propassword".utf8), by: world.caller)
        let verification = try #require(try await world.mailer.takeTokens().first)
        await #expect(throws: AccountsError.invalidLink) { try await reset(verification) }
        let token = try await link()
        await #expect(throws: AccountsError.invalidLink) {
            try await world.emailLinks.verifyEmail(by: token, by: world.caller)
        }
        // Neither was used up.
        try await world.emailLinks.verifyEmail(by: verification, by: world.caller)
        try await reset(token)
        _ = opened
    }

    @Test func verificationsAreLimitedApartFromResets() async throws {
        let world = try AgentWorld(limits: true)
        let user = try await world.addUser(email)
        for _ in 0..<3 {
            try await world.emailLinks.requestVerification(of: user, by: world.caller)
        }
        await #expect(throws: limited(1_200)) {
            try await world.emailLinks.requestVerification(of: user, by: world.caller)
        }
        try await request(email, in: world)
    }

    @Test func aFullQueueDoesNotPreventARegistration() async throws {
        world.mailer.isFull = true
        _ = try await world.users.register(
            email: email, password: Array("propassword".utf8), by: world.caller)
    }

    // MARK: Notices

    @Test func aNewPasswordIsNoticed() async throws {
        let user = try await world.addUser(email)
        try await world.users.changePassword(
            of: user, by: .password(Array("propassword".utf8)),
            to: Array("another password".utf8), by: world.caller)
        let mail = try #require(try await world.mailer.take().first)
        #expect(mail.recipient == user.email && mail.user == user.id)
        guard case .notice(.passwordChanged, let client) = mail.content else {
            Issue.record("not a notice")
            return
        }
        #expect(client == "192.0.2.7")
    }

    @Test func anAddressGetsTenNoticesAnHour() async throws {
        let world = try AgentWorld(limits: true)
        let user = try await world.addUser(email)
        let notices = UserNotices(
            mailer: world.mailer, stores: world.stores, limiter: world.limiter)
        for _ in 0..<10 { notices.notify(user, of: .totpEnabled, by: world.caller) }
        #expect(try await world.mailer.take().count == 10)
        notices.notify(user, of: .totpEnabled, by: world.caller)
        await #expect(throws: RateLimited.self) { try await world.mailer.take() }
        // They do not use up the links.
        try await request(email, in: world)
    }
}
