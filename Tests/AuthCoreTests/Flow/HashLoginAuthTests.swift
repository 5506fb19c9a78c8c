import Cryptography
import Synchronization
import TestSupport
import Testing

@testable import AuthCore

/// What a failed hash login tells: nothing, whatever went wrong, and never sooner or later.
@Suite(.timeLimit(.minutes(1))) struct HashLoginAuthTests {
    private static let email = "user@example.com"
    private static let url = "https://example.com/hash.txt"
    private static let password = Array("test123".utf8)

    /// A world in which the user is registered, with a pool of the test's own from then on.
    private func world(hashing: any Workers = InlineWorkers()) async throws -> AgentWorld {
        let before = try AgentWorld()
        let after = try AgentWorld(stores: before.stores, hashing: hashing)
        for world in [before, after] { world.host.serve(try hash(), at: Self.url) }
        _ = try await before.hashLogin.register(
            email: Self.email, url: Self.url, password: Self.password, by: before.caller)
        return after
    }

    private func hash() throws -> String {
        try Argon2Hash(
            password: Self.password, cost: .init(memoryKiB: 8, iterations: 1, parallelism: 1),
            salt: Array("saltsaltsalt".utf8)
        ).encoded
    }

    private func login(_ world: AgentWorld, _ email: String? = email) async throws -> OpenLogin {
        try await world.hashLogin.login(
            email: email, password: Self.password, by: world.caller)
    }

    private func failures(_ world: AgentWorld) async throws -> Int {
        try await world.stores.audit.latestEvents(limit: 100).count {
            $0.event.kind == .loginFailed
        }
    }

    @Test func aFetchIsGivenFiveSecondsAtRegistrationAndTwoAtALogin() async throws {
        let world = try await world()
        _ = try await world.hashLogin.register(
            email: "other@example.com", url: Self.url, password: Self.password, by: world.caller)
        _ = try await login(world)
        #expect(world.host.timeouts == [.seconds(5), .seconds(2)])
    }

    /// Section 0: 503 and no other answer. Said before the email is looked at, it tells nothing.
    @Test(arguments: [true, false])
    func withoutRoomEverybodyIsToldToComeAgain(isHashing: Bool) async throws {
        let world = try await world(hashing: isHashing ? FullWorkers() : InlineWorkers())
        if !isHashing { world.host.leave(.none) }
        let wait: Duration = isHashing ? .seconds(1) : .seconds(2)
        for email in [Self.email, "nobody@example.com", "nonsense", nil] {
            await #expect(throws: Refusal.busy(retryAfter: wait)) {
                try await login(world, email)
            }
        }
        await #expect(throws: Refusal.busy(retryAfter: wait)) {
            try await world.hashLogin.logout(
                token: nil, email: Self.email, password: Self.password, by: world.caller)
        }
        #expect(world.stopwatch.waits.isEmpty && world.host.asked == 0)
        #expect(try await failures(world) == 0)
    }

    @Test(arguments: [true, false])
    func aRegistrationWithoutRoomIsToldToComeAgain(isHashing: Bool) async throws {
        let world = try await world(hashing: isHashing ? FullWorkers() : InlineWorkers())
        if !isHashing { world.host.leave(.none) }
        await #expect(throws: Refusal.busy(retryAfter: isHashing ? .seconds(1) : .seconds(2))) {
            try await world.hashLogin.register(
                email: "other@example.com", url: Self.url, password: Self.password,
                by: world.caller)
        }
    }

    /// By now a 503 would tell that the email is registered, and that its host has answered.
    @Test func roomThatIsGoneMeanwhileFailsTheLoginAtItsFloor() async throws {
        let fetching = try await world()
        fetching.host.leave(.goneMeanwhile)
        let hashing = try await world(hashing: DwindlingWorkers(places: 1))
        for world in [fetching, hashing] {
            let floor = world.clock.now.advanced(by: .seconds(3))
            await #expect(throws: Refusal.loginFailed) { try await login(world) }
            #expect(world.stopwatch.waits == [floor])
            #expect(world.host.asked == 1)
        }
    }

    /// A 500 would tell as much.
    @Test func aHashThatCannotBeComputedFailsTheLoginAtItsFloor() async throws {
        let world = try await world(hashing: InlineWorkers.broken)
        let floor = world.clock.now.advanced(by: .seconds(3))
        await #expect(throws: Refusal.loginFailed) { try await login(world) }
        #expect(world.stopwatch.waits == [floor])
    }

    /// Contract section 3: of one host two are fetched from at once, and a third waits. Whoever logs
    /// in from a few devices at once is let in on all; one registration does not fill the queue.
    @Test func ofOneRegistrationSixLoginsAreUnderWayAndASeventhFails() async throws {
        let world = try await world()
        world.host.hold(6)
        let slow = (0..<6).map { _ in Task { try await login(world).email.text } }
        await world.host.awaitHeld(6)
        await #expect(throws: Refusal.loginFailed) { try await login(world) }
        #expect(world.host.asked == 6)
        world.host.release()
        for task in slow { #expect(try await task.value == Self.email) }
    }

    /// The record takes as long as the disk does. Were it written before the floor where there is
    /// time, and after it where there is none, late answers would show who is registered.
    @Test(arguments: [true, false]) func theRecordIsWrittenAfterTheFloor(isLate: Bool) async throws
    {
        let world = try await world()
        if isLate { world.stopwatch.makeLate() } else { world.host.remove(Self.url) }
        let seen = Mutex<[Int?]>([])
        world.stopwatch.whenWaiting {
            let count = try? await failures(world)
            seen.withLock { $0.append(count) }
        }
        await #expect(throws: Refusal.loginFailed) { try await login(world) }
        #expect(seen.withLock { $0 } == [0])
        #expect(try await failures(world) == 1)
    }

    @Test func aClientThatLeavesBeforeTheFloorIsRecordedAllTheSame() async throws {
        let world = try await world()
        world.host.remove(Self.url)
        world.stopwatch.makeLeft()
        await #expect(throws: CancellationError.self) { try await login(world) }
        #expect(try await failures(world) == 1)
    }
}
