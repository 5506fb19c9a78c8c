import AuthCore
import Cryptography
import Scheduling
import Synchronization
import TestPrimitives
import TestSupport
import Testing

/// Failed hash logins have one error and one time, whatever their cause.
@Suite(.timeLimit(.minutes(10))) struct HashLoginsTests {
    private static let email = "user@example.com"
    private static let url = "https://example.com/hash.txt"
    private static let password = Array("test123".utf8)
    /// More memory than Argon2 is ever given, so a served hash of this cost cannot be computed.
    private static let uncomputableKiB = Argon2.memoryKiB.upperBound + 1

    /// A world in which the user is registered, with a pool of the test's own from then on.
    private func world(
        hashing: WorkerPool = .forTests(), bounds: Argon2Hash.Bounds = .served
    ) async throws -> AgentWorld {
        let before = try AgentWorld()
        let after = try AgentWorld(stores: before.stores, hashing: hashing, bounds: bounds)
        for world in [before, after] { world.host.serve(try hash(), at: Self.url) }
        _ = try await register(Self.email, in: before)
        return after
    }

    private func hash() throws -> String {
        try Argon2Hash(
            password: Self.password, cost: .init(memoryKiB: 8, iterations: 1, parallelism: 1),
            salt: Array("saltsaltsalt".utf8)
        ).encoded
    }

    private func register(_ email: String?, in world: AgentWorld) async throws -> HashLogin {
        try await world.hashLogins.register(
            email: email, url: Self.url, password: Self.password, by: world.caller)
    }

    private func logIn(
        _ world: AgentWorld, _ email: String? = email, password: [UInt8]? = password
    ) async throws -> HashLogins.Opened {
        try await world.hashLogins.logIn(email: email, password: password, by: world.caller)
    }

    private func failures(_ world: AgentWorld) async throws -> Int {
        try await world.stores.audit.events(after: nil, limit: .max)
            .reduce(0) { $0 + ($1.event.kind == .loginFailed ? Int($1.count) : 0) }
    }

    /// Expects that a login fails at its floor, and is answered not before that.
    private func expectFailure(
        in world: AgentWorld, sourceLocation: SourceLocation = #_sourceLocation,
        _ login: () async throws -> Void
    ) async {
        let waits = world.stopwatch.waits.count
        let floor = world.clock.monotonic.advanced(by: .seconds(3))
        await #expect(throws: HashLoginError.loginFailed, sourceLocation: sourceLocation) {
            try await login()
        }
        #expect(
            Array(world.stopwatch.waits.dropFirst(waits)) == [floor],
            sourceLocation: sourceLocation)
    }

    // MARK: Registration

    @Test func theDeadlineOfAFetchIsFiveSecondsAtRegistrationAndTwoAtLogin() async throws {
        let world = try await world()
        let now = world.clock.monotonic
        _ = try await register("other@example.com", in: world)
        _ = try await logIn(world)
        #expect(
            world.host.deadlines == [
                now.advanced(by: .seconds(5)), now.advanced(by: .seconds(2)),
            ])
        #expect(world.host.purposes == [.registration, .login])
    }

    @Test func aFailedFetchAtRegistrationIsAnsweredNotBeforeItsFloor() async throws {
        let world = try AgentWorld()
        let floor = world.clock.monotonic.advanced(by: .seconds(1))
        await #expect(throws: HashLoginError.hashUnreachable) {
            try await register(Self.email, in: world)
        }
        #expect(world.stopwatch.waits == [floor])
    }

    @Test(arguments: [true, false])
    func aRegistrationWithAFullQueueIsBusy(isHashing: Bool) async throws {
        let held = HeldPool(isFull: isHashing)
        let world = try await world(hashing: held.pool)
        if !isHashing { world.host.setQueue(.full) }
        let busy = CommonError.busy(retryAfter: isHashing ? .seconds(1) : .seconds(2))
        await #expect(throws: HashLoginError.common(busy)) {
            try await register("other@example.com", in: world)
        }
        held.empty()
        world.host.setQueue(.free)
        _ = try await register("other@example.com", in: world)
    }

    @Test func aRegistrationsHashCountsForItsClient() async throws {
        let held = HeldPool(shares: .ofQueue)
        let world = try await world(hashing: held.pool)
        held.fill(for: world.caller.address)
        #expect(!held.pool.isFull(for: nil))
        await #expect(throws: HashLoginError.common(.busy(retryAfter: .seconds(1)))) {
            try await register("other@example.com", in: world)
        }
        held.empty()
        _ = try await register("other@example.com", in: world)
    }

    @Test func whetherAnEmailIsTakenIsReportedOnlyWithThePassword() async throws {
        let world = try await world()
        await #expect(throws: HashLoginError.hashMismatch) {
            try await world.hashLogins.register(
                email: Self.email, url: Self.url, password: [1], by: world.caller)
        }
        await #expect(throws: HashLoginError.emailTaken) {
            try await register(Self.email, in: world)
        }
    }

    // MARK: Login

    /// Reported before the email is looked up, a 503 shows nothing about it.
    @Test(arguments: [true, false])
    func withAFullQueueEveryLoginIsBusy(isHashing: Bool) async throws {
        let held = HeldPool(isFull: isHashing)
        let world = try await world(hashing: held.pool)
        if !isHashing { world.host.setQueue(.full) }
        let busy = CommonError.busy(retryAfter: isHashing ? .seconds(1) : .seconds(2))
        for email in [Self.email, "nobody@example.com", "nonsense", nil] {
            await #expect(throws: HashLoginError.common(busy)) { try await logIn(world, email) }
        }
        await #expect(throws: HashLoginError.common(busy)) {
            try await world.hashLogins.logOut(
                token: nil, email: Self.email, password: Self.password, by: world.caller)
        }
        #expect(world.stopwatch.waits.isEmpty && world.host.fetchCount == 0)
        #expect(try await failures(world) == 0)
        held.empty()
        world.host.setQueue(.free)
        _ = try await logIn(world)
    }

    @Test func everyFailureIsAnsweredAtTheFloorWhateverItsCause() async throws {
        let world = try await world()
        await expectFailure(in: world) { _ = try await logIn(world, password: [1]) }
        await expectFailure(in: world) { _ = try await logIn(world, password: []) }
        await expectFailure(in: world) { _ = try await logIn(world, password: nil) }
        for email in ["nobody@example.com", "nonsense", "user@mail.test", nil] {
            await expectFailure(in: world) { _ = try await logIn(world, email) }
        }
        world.host.serve("no hash", at: Self.url)
        await expectFailure(in: world) { _ = try await logIn(world) }
        world.host.remove(Self.url)
        world.clock.advance(by: .seconds(600))
        await expectFailure(in: world) { _ = try await logIn(world) }
        #expect(try await failures(world) == 9)
    }

    /// By then a 503 would show that the email is registered and that its host has answered.
    @Test func aFetchQueueThatIsFullAfterTheCheckFailsTheLoginAtTheFloor() async throws {
        let world = try await world()
        world.host.setQueue(.fullAfterCheck)
        await expectFailure(in: world) { _ = try await logIn(world) }
        #expect(world.host.fetchCount == 1)
    }

    @Test func aPoolThatFillsUpDuringTheFetchFailsTheLoginAtTheFloor() async throws {
        let held = HeldPool()
        let world = try await world(hashing: held.pool)
        let floor = world.clock.monotonic.advanced(by: .seconds(3))
        world.host.hold(1)
        let login = Task { try await logIn(world).token }
        await world.host.awaitHeld(1)
        held.fill()
        world.host.release()
        await #expect(throws: HashLoginError.loginFailed) { try await login.value }
        #expect(world.stopwatch.waits == [floor])
    }

    /// A 500 would show as much as a 503.
    @Test func aHashThatCannotBeComputedFailsTheLoginAtTheFloor() async throws {
        let world = try await world(
            bounds: .init(memoryKiB: Self.uncomputableKiB, iterations: 1, parallelism: 1))
        world.host.serve(
            "$argon2id$v=19$m=\(Self.uncomputableKiB),t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA",
            at: Self.url)
        await expectFailure(in: world) { _ = try await logIn(world) }
        #expect(world.host.fetchCount == 1)
        #expect(world.faults.entries.count == 1)
    }

    @Test func whatIsNotDoneByTheFloorFails() async throws {
        let world = try await world()
        world.stopwatch.exceedDeadlines()
        await expectFailure(in: world) { _ = try await logIn(world) }
    }

    /// A write takes time. If it came before the floor in some logins and after it in others, late
    /// responses would show which emails are registered.
    @Test(arguments: [true, false])
    func aFailureIsRecordedAfterTheFloor(isLate: Bool) async throws {
        let world = try await world()
        if isLate { world.stopwatch.exceedDeadlines() } else { world.host.remove(Self.url) }
        let seen = Mutex<[Int?]>([])
        world.stopwatch.whenWaiting {
            let count = try? await failures(world)
            seen.withLock { $0.append(count) }
        }
        await #expect(throws: HashLoginError.loginFailed) { try await logIn(world) }
        #expect(seen.withLock { $0 } == [0])
        #expect(try await failures(world) == 1)
    }

    @Test func aFailureIsRecordedThoughTheClientDisconnectsBeforeTheFloor() async throws {
        let world = try await world()
        world.host.remove(Self.url)
        world.stopwatch.cancelWaits()
        await #expect(throws: HashLoginError.common(.failed(CancellationError()))) {
            try await logIn(world)
        }
        #expect(try await failures(world) == 1)
    }

    @Test func guessesAreThrottledForNamesThatExistAndForThoseThatDoNot() async throws {
        let world = try await world()
        for email in [Self.email, "nobody@example.com"] {
            // One caller for all: a failed login moves the clock to its floor.
            let caller = world.caller
            for number in 0..<5 {
                await #expect(throws: HashLoginError.loginFailed) {
                    try await world.hashLogins.logIn(
                        email: email, password: [UInt8(number)], by: caller)
                }
            }
            let limited = RateLimited(retryAfter: .seconds(1))
            await #expect(throws: HashLoginError.common(.rateLimited(limited))) {
                try await world.hashLogins.logIn(
                    email: email, password: Self.password, by: caller)
            }
        }
        world.clock.advance(by: .seconds(1))
        _ = try await logIn(world)
    }

    /// Counted when it ends, the failure of a registered email would count later than that of an
    /// unregistered one, because only it is fetched.
    @Test func attemptsInProgressCountForNamesThatExistAndForThoseThatDoNot() async throws {
        let world = try await world()
        world.host.hold(5)
        let caller = world.caller
        let slow = (0..<5).map { _ in
            Task {
                try await world.hashLogins.logIn(
                    email: Self.email, password: [1], by: caller
                ).token
            }
        }
        await world.host.awaitHeld(5)
        let limited = HashLoginError.common(.rateLimited(RateLimited(retryAfter: .seconds(1))))
        await #expect(throws: limited) {
            try await world.hashLogins.logIn(email: Self.email, password: [1], by: caller)
        }
        world.host.release()
        for task in slow {
            await #expect(throws: HashLoginError.loginFailed) { try await task.value }
        }
        for _ in 0..<5 {
            await #expect(throws: HashLoginError.loginFailed) {
                try await world.hashLogins.logIn(
                    email: "nobody@example.com", password: [1], by: caller)
            }
        }
        await #expect(throws: limited) {
            try await world.hashLogins.logIn(
                email: "nobody@example.com", password: [1], by: caller)
        }
    }

    @Test func aSuccessIsRecordedAndClearsTheFailures() async throws {
        let world = try await world()
        for round in 0..<3 {
            for number in 0..<4 {
                await #expect(throws: HashLoginError.loginFailed) {
                    try await logIn(world, password: [UInt8(10 * round + number)])
                }
            }
            _ = try await logIn(world)
            let event = try #require(try await world.events.last)
            let email = try #require(Email(parsing: Self.email))
            #expect(event.kind == .loginSucceeded && event.actor == .email(email))
            #expect(event.subject == Self.email)
        }
    }

    @Test func aBrokenStoreIsAFailureWithItsCause() async throws {
        let world = try await world()
        var stores = world.stores
        stores.hashLogins = FailingHashLogins(BrokenStore())
        let broken = try AgentWorld(stores: stores)
        await #expect(throws: HashLoginError.common(.failed(BrokenStore()))) {
            try await logIn(broken)
        }
    }

    // MARK: Tokens

    @Test func aTokenIsValidForItsLifetimeAndUntilALogout() async throws {
        let world = try await world()
        let opened = try await logIn(world)
        let valid = try await world.hashLogins.validate(opened.token, at: world.clock.now)
        #expect(valid.email.text == Self.email && valid.issuer == AgentWorld.loginIssuer)
        #expect(valid.issued == world.clock.now && valid.credentialVersion == 1)
        #expect(valid.expiry == world.clock.now.advanced(by: .seconds(3600)))
        world.clock.advance(by: .seconds(3599))
        _ = try await world.hashLogins.validate(opened.token, at: world.clock.now)
        let other = try await logIn(world)
        world.clock.advance(by: .seconds(1))
        for token in [opened.token, nil, "garbage"] {
            await #expect(throws: HashLoginError.invalidToken) {
                try await world.hashLogins.validate(token, at: world.clock.now)
            }
        }
        let email = try await world.hashLogins.logOut(
            token: other.token, email: nil, password: nil, by: world.caller)
        #expect(email.text == Self.email)
        await #expect(throws: HashLoginError.invalidToken) {
            try await world.hashLogins.validate(other.token, at: world.clock.now)
        }
        let event = try #require(try await world.events.last)
        #expect(event.kind == .hashLoginEnded && event.actor == .email(email))
    }

    /// The token is valid for both when they read it.
    @Test func ofTwoLogoutsWithOneTokenAtTheSameTimeOneSucceeds() async throws {
        let world = try await world()
        let token = try await logIn(world).token
        var stores = world.stores
        stores.hashLogins = OvertakenLogouts(store: world.stores.hashLogins)
        let overtaken = try AgentWorld(stores: stores)
        await #expect(throws: HashLoginError.logoutFailed) {
            try await overtaken.hashLogins.logOut(
                token: token, email: nil, password: nil, by: overtaken.caller)
        }
    }

    @Test func aLogoutByPasswordFailsAtTheFloorAndAnInvalidTokenAtOnce() async throws {
        let world = try await world()
        let floor = world.clock.monotonic.advanced(by: .seconds(3))
        await #expect(throws: HashLoginError.logoutFailed) {
            try await world.hashLogins.logOut(
                token: "garbage", email: Self.email, password: Self.password, by: world.caller)
        }
        #expect(world.stopwatch.waits.isEmpty)
        await #expect(throws: HashLoginError.logoutFailed) {
            try await world.hashLogins.logOut(
                token: nil, email: Self.email, password: [1], by: world.caller)
        }
        #expect(world.stopwatch.waits == [floor])
        let email = try await world.hashLogins.logOut(
            token: nil, email: Self.email, password: Self.password, by: world.caller)
        #expect(email.text == Self.email)
    }

    @Test func aDeletedRegistrationFreesItsEmailAndEndsItsTokens() async throws {
        let world = try await world()
        let old = try await logIn(world).token
        let email = try #require(Email(parsing: Self.email))
        let event = AuditEvent(
            .hashLoginDeleted, by: world.caller, actor: .operator, subject: email.text)
        #expect(
            try await world.stores.hashLoginDirectory.deleteHashLogin(
                of: email, recording: event))
        await expectFailure(in: world) { _ = try await logIn(world) }
        _ = try await register(Self.email, in: world)
        await #expect(throws: HashLoginError.invalidToken) {
            try await world.hashLogins.validate(old, at: world.clock.now)
        }
        let new = try await logIn(world).token
        _ = try await world.hashLogins.validate(new, at: world.clock.now)
    }
}
