import AuthCore
import Testing

/// What every engine guarantees about events that wait for their receiver.
@Suite(.indexesAreUsed) struct DeliveryQueueTests {
    private func time(_ seconds: Int64) -> Instant { Instant(seconds: seconds) }

    /// Events 1 to 3 are of accounts 1 to 3; the fourth disables the first account.
    private func filled(_ engine: Engine) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...3 { #expect(try await store.insert(account(number))) }
        #expect(try await store.setState(of: accountID(1), to: .disabled))
        return store
    }

    private func take(
        _ store: any EngineStore, at seconds: Int64, limit: Int = 99
    ) async throws -> [Int64] {
        let due = time(seconds)
        let isDue = try await store.hasDueEvent(at: due)
        let taken = try await store.takeDueEvents(
            at: due, until: due.advanced(by: .seconds(30)), limit: limit)
        #expect(isDue != taken.isEmpty || limit == 0)
        return taken.map(\.event.number)
    }

    @Test(arguments: Engine.allCases)
    func eventsAreTakenInOrderAndOnceUntilTheyAreDueAgain(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await take(store, at: 10, limit: 0).isEmpty)
        #expect(try await take(store, at: 10, limit: 2) == [1, 2])
        #expect(try await take(store, at: 39) == [3])
        #expect(try await take(store, at: 39).isEmpty)
        // The sender of the first two has ended without a word.
        let again = try await store.takeDueEvents(at: time(40), until: time(70), limit: 9)
        #expect(again.map(\.event.number) == [1, 2])
        #expect(again.map(\.attempts) == [2, 2] && again.allSatisfy { $0.due == time(70) })
        #expect(
            try await again.map(\.event)
                == store.accountEvents(after: 0, limit: 2))
    }

    @Test(arguments: Engine.allCases)
    func theNextEventOfAnAddressWaitsUntilTheOneBeforeIsAccepted(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await take(store, at: 10) == [1, 2, 3])
        #expect(try await store.noteAccepted(2, at: time(11)))
        #expect(try await !store.noteAccepted(2, at: time(12)))
        #expect(try await !store.noteAccepted(9, at: time(12)))
        try await store.postpone(1, until: time(20))
        try await store.postpone(3, until: time(25))
        #expect(try await take(store, at: 19).isEmpty)
        #expect(try await take(store, at: 20) == [1])
        #expect(try await store.noteAccepted(1, at: time(21)))
        #expect(try await take(store, at: 21) == [4])
        #expect(try await take(store, at: 25) == [3])
        for number: Int64 in [3, 4] {
            #expect(try await store.noteAccepted(number, at: time(26)))
        }
        #expect(try await take(store, at: 1000).isEmpty)
        // An event that was accepted is not sent again, whatever a late sender says.
        try await store.postpone(1, until: time(0))
        #expect(try await take(store, at: 1000).isEmpty)
        #expect(
            try await store.deliveryStatus(limit: 9)
                == DeliveryStatus(waiting: 0, failing: []))
    }

    /// The mailbox of the first account must be gone before that of the second is made.
    @Test(arguments: Engine.allCases)
    func theEventsOfAnAddressKeepTheirOrderWhenAnotherAccountGetsIt(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(account(1, "again@mail.test")))
        #expect(try await store.delete(accountID(1), at: nil))
        #expect(try await store.free(address("again@mail.test")))
        #expect(try await store.insert(account(2, "again@mail.test")))
        for number: Int64 in 1...4 {
            #expect(try await take(store, at: 10) == [number])
            #expect(try await take(store, at: 10).isEmpty)
            #expect(try await store.noteAccepted(number, at: time(11)))
        }
    }

    /// So that one that the receiver never answers does not delay others.
    @Test(arguments: Engine.allCases)
    func eventsThatWereNeverTriedComeFirst(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await take(store, at: 10, limit: 2) == [1, 2])
        try await store.postpone(1, until: time(13))
        try await store.postpone(2, until: time(12))
        #expect(try await take(store, at: 20, limit: 1) == [3])
        #expect(try await take(store, at: 20, limit: 1) == [2])
        #expect(try await take(store, at: 20, limit: 1) == [1])
    }

    @Test(arguments: Engine.allCases)
    func theStatusCountsWaitingEventsAndShowsFailingOnes(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(
            try await store.deliveryStatus(limit: 9) == DeliveryStatus(waiting: 4, failing: []))
        #expect(try await take(store, at: 10) == [1, 2, 3])
        try await store.postpone(1, until: time(60))
        #expect(try await store.noteAccepted(3, at: time(11)))
        let status = try await store.deliveryStatus(limit: 9)
        #expect(status.waiting == 3)
        #expect(status.failing.map(\.event.number) == [2, 1])
        #expect(status.failing.map(\.attempts) == [1, 1])
        #expect(status.failing.map(\.due) == [time(40), time(60)])
        #expect(try await store.deliveryStatus(limit: 1).failing.map(\.event.number) == [2])
    }

    @Test(arguments: Engine.shared)
    func ofConcurrentSendersOneTakesAnEvent(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        for number in 1...20 { #expect(try await stores[0].insert(account(number))) }
        let taken = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for number in 0..<10 {
                group.addTask {
                    try await stores[number % 2].takeDueEvents(
                        at: Instant(seconds: 10), until: Instant(seconds: 40), limit: 5
                    ).map(\.event.number)
                }
            }
            return try await group.reduce([]) { $0 + $1 }
        }
        #expect(taken.count == Set(taken).count)
        let rest = try await take(stores[1], at: 10)
        #expect((taken + rest).sorted() == Array(1...20))
    }
}
