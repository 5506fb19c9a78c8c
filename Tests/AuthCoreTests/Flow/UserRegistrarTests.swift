import AuthCore
import TestSupport
import Testing

@Suite struct UserRegistrarTests {
    private let world: AgentWorld
    private let registrar: UserRegistrar

    init() throws {
        world = try AgentWorld()
        registrar = UserRegistrar(
            users: world.stores.users,
            hasher: PasswordHasher(
                settings: .init(memoryKiB: 8, iterations: 1, parallelism: 1),
                workers: InlineWorkers(), random: world.random.make),
            random: world.random.make)
    }

    private func event(_ kind: AuditEvent.Kind) -> AuditEvent {
        AuditEvent(kind, time: world.clock.now, actor: "operator", subject: "ada@example.test")
    }

    private func add(_ password: String = "propassword") async throws -> User {
        let email = try #require(Email(parsing: "Ada@Example.test"))
        return try await registrar.add(
            email, password: Array(password.utf8), recording: event(.userCreated))
    }

    private func login(_ password: String) async throws -> OpenUser {
        try await world.accounts.loginUser(
            email: "ada@example.test", password: Array(password.utf8), by: world.caller)
    }

    private func opens(_ secret: String) async throws -> Bool {
        if case .user = try await world.accounts.identify(secret, at: world.clock.now) {
            return true
        }
        return false
    }

    @Test func whomTheOperatorAddsLogsInWithTheAPI() async throws {
        try await world.keys.start()
        let user = try await add()
        #expect(user.created == world.clock.now)
        #expect(try await login("propassword").user.id == user.id)
        let kinds = try await world.stores.audit.events(after: nil, limit: 10).map(\.event.kind)
        #expect(kinds == [.userCreated, .loginSucceeded])
    }

    @Test func anEmailIsGivenOnceAndAShortPasswordNever() async throws {
        _ = try await add()
        await #expect(throws: Refusal.emailTaken) { _ = try await add() }
        await #expect(throws: Refusal.passwordTooShort) { _ = try await add("12345") }
        #expect(try await world.stores.audit.events(after: nil, limit: 10).count == 1)
    }

    @Test func aNewPasswordEndsTheOldOneAndEveryJWT() async throws {
        try await world.keys.start()
        let user = try await add()
        let open = try await login("propassword")
        let changed = try await registrar.setPassword(
            of: user, to: Array("another one".utf8), recording: event(.credentialReset))
        #expect(changed)
        #expect(try await !opens(open.token))
        await #expect(throws: Refusal.invalidCredentials) { _ = try await login("propassword") }
        #expect(try await opens(try await login("another one").token))
        // What was read before the change is no ground for another.
        let again = try await registrar.setPassword(
            of: user, to: Array("a third one".utf8), recording: event(.credentialReset))
        #expect(!again)
    }

    @Test func disablingEndsJWTsAndAPITokensAtOnceAndEnablingRevivesOnlyTheLatter() async throws {
        try await world.keys.start()
        let user = try await add()
        let jwt = try await login("propassword").token
        let apiToken = try await world.accounts.makeAPIToken(
            named: "a", expiry: nil, for: user, by: world.caller
        ).secret
        #expect(try await opens(jwt))
        #expect(try await opens(apiToken))

        _ = try await world.stores.userDirectory.setState(
            of: user.id, to: .disabled, recording: event(.userDisabled))
        #expect(try await !opens(jwt))
        #expect(try await !opens(apiToken))
        await #expect(throws: Refusal.invalidCredentials) { _ = try await login("propassword") }

        _ = try await world.stores.userDirectory.setState(
            of: user.id, to: .active, recording: event(.userEnabled))
        #expect(try await !opens(jwt))
        #expect(try await opens(apiToken))
    }
}
