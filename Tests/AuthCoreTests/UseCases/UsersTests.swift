import AuthCore
import TestSupport
import Testing

struct UsersTests {
    private let world: AgentWorld
    private let email = "ada@example.test"

    init() throws {
        world = try AgentWorld(registrationIsOpen: true)
    }

    private func register(
        _ email: String, _ password: String = "propassword", in other: AgentWorld? = nil
    ) async throws -> UserSessions.Opened {
        let world = other ?? self.world
        return try await world.users.register(
            email: email, password: Array(password.utf8), by: world.caller)
    }

    private func logIn(_ password: String) async throws -> UserSessions.Opened {
        try await world.users.logIn(
            email: email, password: Array(password.utf8), by: world.caller)
    }

    private func change(
        _ user: User, from current: String, to password: String
    ) async throws {
        try await world.users.changePassword(
            of: user, by: .password(Array(current.utf8)), to: Array(password.utf8),
            by: world.caller)
    }

    private func isValid(_ token: String) async throws -> Bool {
        do throws(AccountsError) {
            return try await world.authenticator.grant(of: token, at: world.clock.now)?.principal
                != nil
        } catch .invalidToken {
            return false
        }
    }

    @Test func registrationIsClosedUnlessTheOperatorOpensIt() async throws {
        let closed = try AgentWorld()
        // Reported before anything else.
        for email in [email, "nonsense"] {
            await #expect(throws: AccountsError.registrationClosed) {
                try await register(email, "x", in: closed)
            }
        }
        #expect(try await closed.events.isEmpty)
    }

    @Test func theIntervalBetweenRegistrationsHoldsOnAllServers() async throws {
        let servers = try (0..<2).map { _ in
            try AgentWorld(stores: world.stores, limits: true, registrationIsOpen: true)
        }
        _ = try await register(email, in: servers[0])
        let limited = RateLimited(retryAfter: .seconds(8))
        await #expect(throws: AccountsError.common(.rateLimited(limited))) {
            try await register("bob@example.test", in: servers[1])
        }
    }

    @Test func aRegisteredUserHasAValidTokenAndCanLogIn() async throws {
        let opened = try await register("Ada@Example.test")
        #expect(opened.user.email.text == email)
        #expect(opened.user.created == world.clock.now)
        #expect(try await isValid(opened.token))
        #expect(try await logIn("propassword").user.id == opened.user.id)
        #expect(
            try await world.events == [
                AuditEvent(.userCreated, by: world.caller, actor: .anonymous, subject: email),
                AuditEvent(
                    .loginSucceeded, by: world.caller, actor: .user(opened.user.id), subject: email),
            ])
    }

    /// The response shows whether an email is taken.
    @Test func everyTryAtARegistrationCostsACreationToken() async throws {
        let world = try AgentWorld(limits: true, registrationIsOpen: true)
        _ = try await register(email, in: world)
        let status = RateLimitStatus(limit: 1, remaining: 0, secondsToReset: 8)
        let limited = RateLimited(retryAfter: .seconds(8), status: status)
        let tries: [(String, String, AccountsError)] = [
            (email, "propassword", .emailTaken),
            ("other@example.test", "1x3y5z7", .passwordTooShort),
            ("other@example.test", "Password1", .passwordTooCommon),
            ("nonsense", "propassword", .invalidEmail),
        ]
        for (email, password, error) in tries {
            await #expect(throws: AccountsError.common(.rateLimited(limited))) {
                try await register(email, password, in: world)
            }
            world.clock.advance(by: .seconds(8))
            await #expect(throws: error) { try await register(email, password, in: world) }
        }
    }

    @Test func aReservedNameUnderADomainOfTheOperatorCannotRegister() async throws {
        try await world.addDomain("added.test")
        for email in [
            "postmaster@mail.test", "Admin@Mail.test", "admin+x@mail.test", "abuse@added.test",
        ] {
            await #expect(throws: AccountsError.invalidEmail) { try await register(email) }
        }
        for email in ["admin.x@mail.test", "postmaster@example.test", "ada@mail.test"] {
            _ = try await register(email)
        }
    }

    @Test func anUnknownEmailAWrongPasswordAndADisabledUserAreAllInvalidCredentials() async throws {
        let user = try await register(email).user
        for (email, password) in [
            (email, "wrong"), ("nobody@example.test", "propassword"), ("nonsense", "propassword"),
        ] {
            await #expect(throws: AccountsError.invalidCredentials) {
                try await world.users.logIn(
                    email: email, password: Array(password.utf8), by: world.caller)
            }
        }
        let event = AuditEvent(
            .userDisabled, by: world.caller, actor: .operator, subject: email)
        _ = try await world.stores.userDirectory.setState(
            of: user.id, to: .disabled, recording: event)
        // Failures of a minute are one event.
        world.clock.advance(by: .seconds(60))
        await #expect(throws: AccountsError.invalidCredentials) { try await logIn("propassword") }
        #expect(try await world.events.last?.kind == .loginFailed)
    }

    @Test func aLogoutEndsEveryProJWTAndNoAPIToken() async throws {
        let first = try await register(email)
        let second = try await logIn("propassword")
        let apiToken = try await world.apiTokens.create(
            named: "a", lifetime: nil, for: first.user, by: world.caller)
        try await world.users.logOut(first.user, by: world.caller)
        #expect(try await !isValid(first.token))
        #expect(try await !isValid(second.token))
        #expect(try await isValid(apiToken.secret))
        let event = try #require(try await world.events.last)
        #expect(event.kind == .userLoggedOut && event.actor == .user(first.user.id))
        // Another logout of the same state is no error, and is not recorded.
        let count = try await world.events.count
        try await world.users.logOut(first.user, by: world.caller)
        #expect(try await world.events.count == count)
        #expect(try await isValid(try await logIn("propassword").token))
    }

    @Test func aSessionIsNoProofForAUserWithAPassword() async throws {
        let opened = try await register(email)
        let grant = try await world.authenticator.grant(of: opened.token, at: world.clock.now)
        let session = try #require(grant?.userSession)
        await #expect(throws: AccountsError.recentLoginRequired) {
            try await world.users.changePassword(
                of: opened.user, by: .session(session), to: Array("another password".utf8),
                by: world.caller)
        }
        _ = try await logIn("propassword")
    }

    @Test func aPasswordChangeNeedsTheCurrentPasswordAndEndsEveryProJWT() async throws {
        let opened = try await register(email)
        await #expect(throws: AccountsError.passwordTooShort) {
            try await change(opened.user, from: "wrong", to: "1x3y5z7")
        }
        await #expect(throws: AccountsError.passwordTooCommon) {
            try await change(opened.user, from: "wrong", to: email)
        }
        await #expect(throws: AccountsError.invalidCredentials) {
            try await change(opened.user, from: "wrong", to: "another one")
        }
        #expect(try await isValid(opened.token))
        try await change(opened.user, from: "propassword", to: "another one")
        #expect(try await !isValid(opened.token))
        await #expect(throws: AccountsError.invalidCredentials) { try await logIn("propassword") }
        #expect(try await isValid(try await logIn("another one").token))
        // The second failure is counted in the event of the first.
        let kinds = try await world.events.map(\.kind)
        #expect(kinds == [.userCreated, .loginFailed, .credentialReset, .loginSucceeded])
    }

    @Test func ofTwoPasswordChangesWithOneTokenOneSucceeds() async throws {
        let user = try await register(email).user
        try await change(user, from: "propassword", to: "another one")
        // As if it had been authenticated before the first one.
        await #expect(throws: AccountsError.invalidToken) {
            try await change(user, from: "propassword", to: "a third one")
        }
        _ = try await logIn("another one")
    }

    @Test func wrongCurrentPasswordsAreThrottledLikeFailedLogins() async throws {
        let user = try await register(email).user
        for number in 0..<5 {
            await #expect(throws: AccountsError.invalidCredentials) {
                try await change(user, from: "guess-\(number)", to: "another one")
            }
        }
        let limited = RateLimited(retryAfter: .seconds(1))
        await #expect(throws: AccountsError.common(.rateLimited(limited))) {
            try await change(user, from: "propassword", to: "another one")
        }
        await #expect(throws: AccountsError.common(.rateLimited(limited))) {
            try await logIn("propassword")
        }
    }

    @Test func holdingsAreCountedBesideTheirMaximum() async throws {
        let user = try await register(email).user
        let secret = MailboxSecret.authKey([UInt8](repeating: 1, count: 32))
        for name in ["one", "two"] {
            _ = try await world.mailboxes.create(
                Mailboxes.New(address: "\(name)@mail.test", secret: secret, proof: nil),
                as: .user(user), by: world.caller)
        }
        _ = try await world.domains.add("example.test", for: user, by: world.caller)
        let holdings = try await world.users.holdings(of: user)
        #expect(holdings.accounts == 2 && holdings.maximumAccounts == 7)
        #expect(holdings.domains == 1 && holdings.maximumDomains == 2)
    }
}
