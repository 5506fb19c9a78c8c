import AuthCore
import TestSupport
import Testing

struct UserRegistrarTests {
    private let world: AgentWorld
    private let registrar: UserRegistrar

    init() throws {
        world = try AgentWorld()
        registrar = UserRegistrar(
            users: world.stores.users,
            hasher: PasswordHasher(
                settings: .init(memoryKiB: 8, iterations: 1, parallelism: 1), pool: .forTests(),
                random: world.random.make),
            random: world.random.make)
    }

    private func event(_ kind: AuditEvent.Kind) -> AuditEvent {
        AuditEvent(kind, time: world.clock.now, actor: .operator, subject: "ada@example.test")
    }

    private func add(_ password: String = "propassword") async throws -> User {
        let email = try #require(Email(parsing: "Ada@Example.test"))
        return try await registrar.add(
            email, password: Array(password.utf8), for: nil, recording: event(.userCreated))
    }

    private func logIn(_ password: String) async throws -> UserSessions.Opened {
        try await world.users.logIn(
            email: "ada@example.test", password: Array(password.utf8), by: world.caller)
    }

    @Test func aUserAddedByTheOperatorCanLogIn() async throws {
        let user = try await add()
        #expect(user.created == world.clock.now)
        #expect(try await logIn("propassword").user.id == user.id)
        #expect(try await world.events.map(\.kind) == [.userCreated, .loginSucceeded])
    }

    @Test func anEmailIsTakenOnceAndAPasswordHasEightCharacters() async throws {
        _ = try await add()
        await #expect(throws: AccountsError.emailTaken) { try await add() }
        await #expect(throws: AccountsError.passwordTooShort) { try await add("1x3y5z7") }
        await #expect(throws: AccountsError.passwordTooCommon) { try await add("password") }
        #expect(try await world.events.count == 1)
    }

    @Test func ofConcurrentAdditionsOfOneEmailOneSucceeds() async throws {
        let errors = await withTaskGroup(of: AccountsError?.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        _ = try await add()
                        return nil
                    } catch {
                        return error as? AccountsError
                    }
                }
            }
            return await group.reduce(into: [AccountsError?]()) { $0.append($1) }
        }
        #expect(errors.count { $0 == nil } == 1)
        #expect(errors.count { $0 == .emailTaken } == 7)
    }

    @Test func aNewPasswordEndsTheOldOneAndEveryProJWT() async throws {
        let user = try await add()
        let opened = try await logIn("propassword")
        let isChanged = try await registrar.setPassword(
            of: user, to: Array("another one".utf8), for: nil,
            recording: event(.credentialReset))
        #expect(isChanged)
        await #expect(throws: AccountsError.invalidToken) {
            try await world.authenticator.grant(of: opened.token, at: world.clock.now)?.principal
        }
        await #expect(throws: AccountsError.invalidCredentials) { try await logIn("propassword") }
        _ = try await logIn("another one")
        // Read before the first change, so a second one with it changes nothing.
        let isChangedAgain = try await registrar.setPassword(
            of: user, to: Array("a third one".utf8), for: nil,
            recording: event(.credentialReset))
        #expect(!isChangedAgain)
        _ = try await logIn("another one")
    }

    @Test func aNewPasswordHasEightCharactersToo() async throws {
        let user = try await add()
        await #expect(throws: AccountsError.passwordTooShort) {
            try await registrar.setPassword(
                of: user, to: Array("1x3y5z7".utf8), for: nil,
                recording: event(.credentialReset))
        }
        _ = try await logIn("propassword")
    }
}
