import AuthCore
import Testing

/// What every engine guarantees about the feed of account events.
@Suite(.indexesAreUsed) struct AccountFeedTests {
    @Test(arguments: Engine.allCases)
    func everyChangeOfAnAccountIsInTheFeedOnce(engine: Engine) async throws {
        let store = try await engine.open()
        let (id, name) = (accountID(1), try address("user1@mail.test"))
        #expect(try await store.insert(account(1)))
        #expect(try await !store.insert(account(2, "user1@mail.test")))
        for _ in 0..<2 {
            #expect(try await store.setState(of: id, to: .disabled))
        }
        #expect(
            try await store.setState(of: id, to: .active, recording: event(.accountEnabled)))
        for _ in 0..<2 {
            #expect(try await store.setQuota(of: id, to: 7, recording: event(.quotaChanged)))
        }
        #expect(try await store.account(id: id)?.quota == 7)
        #expect(
            try await !store.setQuota(of: accountID(9), to: 7, recording: event(.quotaChanged)))
        #expect(try await store.replaceCredential(of: id, at: 2, with: .apiKey(digest(9))))
        #expect(try await store.note([UsageReport(address: name, used: 5)]) == [true])
        #expect(try await !store.delete(id, at: 1))
        #expect(try await store.delete(id, at: nil))
        #expect(try await !store.setQuota(of: id, to: 8, recording: event(.quotaChanged)))
        #expect(try await store.free(name))
        #expect(try await !store.free(name))

        let events = try await store.accountEvents(after: 0, limit: 100)
        #expect(
            events.map(\.kind) == [
                .accountCreated, .accountDisabled, .accountEnabled, .quotaChanged, .accountDeleted,
                .addressFreed,
            ])
        #expect(events.map(\.number) == Array(1...6))
        #expect(events.map(\.quota) == [1000, nil, nil, 7, nil, nil])
        #expect(events.allSatisfy { $0.account == id && $0.address == name })
        #expect(events.allSatisfy { $0.time == Instant(milliseconds: 1) })
        #expect(Set(events.map(\.id)).count == 6)
        // What is in the feed is in the record of all events, too.
        let recorded = try await store.events(after: nil, limit: 100).map(\.event.kind)
        #expect(recorded.filter { AuditEvent.Kind.ofAccounts.contains($0) } == events.map(\.kind))
    }

    @Test(arguments: Engine.allCases)
    func anAccountOfAnOwnerOrOnADomainIsInTheFeed(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.insert(user(1)))
        #expect(try await store.insert(domain(1, isVerified: true)) == .inserted)
        let one = try account(1, "a@domain1.test", owner: userID(1))
        #expect(
            try await store.insert(one, on: domainID(1), limit: 1, recording: event())
                == .inserted)
        let two = try account(2, owner: userID(1))
        #expect(try await store.insert(two, limit: 1, recording: event()) == .limitReached)
        let events = try await store.accountEvents(after: 0, limit: 9)
        #expect(events.map(\.account) == [one.id])
    }

    @Test(arguments: Engine.allCases)
    func eventsAreReadInPages(engine: Engine) async throws {
        let store = try await engine.open()
        #expect(try await store.lastAccountEvent() == 0)
        for number in 1...5 { #expect(try await store.insert(account(number))) }
        var seen: [Int64] = []
        while let page = Optional(
            try await store.accountEvents(after: seen.last ?? 0, limit: 2)), !page.isEmpty
        {
            seen += page.map(\.number)
        }
        #expect(seen == [1, 2, 3, 4, 5])
        #expect(try await store.lastAccountEvent() == 5)
        #expect(try await store.accountEvents(after: .max, limit: 9).isEmpty)
        for limit in [0, -1, .min] {
            #expect(try await store.accountEvents(after: 0, limit: limit).isEmpty)
        }
    }

    @Test(arguments: Engine.allCases)
    func aReaderMissesNoneOfConcurrentChanges(engine: Engine) async throws {
        let store = try await engine.open()
        let writer = Task {
            try await winners(of: 60) { try await store.insert(account($0)) }
        }
        var seen: [AccountEvent] = []
        let deadline = ContinuousClock.now + .seconds(120)
        while seen.count < 60 {
            seen += try await store.accountEvents(after: seen.last?.number ?? 0, limit: 7)
            await Task.yield()
            try #require(ContinuousClock.now < deadline)
        }
        #expect(try await writer.value == 60)
        #expect(seen.map(\.number) == Array(1...60))
        #expect(Set(seen.map(\.account)).count == 60)
    }

    @Test(arguments: Engine.shared)
    func eventsOfOneAccountHaveTheOrderOfItsChanges(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        #expect(try await stores[0].insert(account(1)))
        // Half of them change nothing, and then there is no event.
        _ = try await winners(of: 40) { number in
            let store = stores[number % 2]
            if number % 4 < 2 {
                return try await store.setState(of: accountID(1), to: .disabled)
            }
            return try await store.setState(
                of: accountID(1), to: .active, recording: event(.accountEnabled))
        }
        let kinds = try await stores[1].accountEvents(after: 1, limit: 99).map(\.kind)
        for (kind, next) in zip(kinds, kinds.dropFirst()) { #expect(kind != next) }
        #expect(kinds.first == .accountDisabled)
        let state = try await stores[0].account(id: accountID(1))?.state
        #expect(kinds.last == (state == .active ? .accountEnabled : .accountDisabled))
        // Both stores have numbered alike.
        #expect(
            try await stores[0].accountEvents(after: 0, limit: 99)
                == stores[1].accountEvents(after: 0, limit: 99))
    }

    @Test(arguments: Engine.allCases)
    func trimmingRemovesOldEventsUntilTheFirstThatStays(engine: Engine) async throws {
        let store = try await engine.open()
        for (number, time) in [1, 2, 9, 3, 4].enumerated() {
            #expect(
                try await store.insert(
                    account(number), limit: nil, recording: event(time: Int64(time)))
                    == .inserted)
        }
        func trim(_ before: Int64, _ limit: Int = 99, keeping: Bool = false) async throws -> Int {
            try await store.trimAccountEvents(
                before: Instant(milliseconds: before), limit: limit, keepingUndelivered: keeping)
        }
        #expect(try await trim(5, keeping: true) == 0)
        #expect(try await store.noteAccepted(1, at: .epoch))
        #expect(try await trim(5, keeping: true) == 1)
        #expect(try await trim(5, 0) == 0)
        // The clock of the server that wrote the third one was ahead.
        #expect(try await trim(5) == 1)
        #expect(try await store.accountEvents(after: 0, limit: 9).map(\.number) == [3, 4, 5])
        #expect(try await trim(99, 2) == 2)
        #expect(try await trim(99) == 1)
        #expect(try await store.lastAccountEvent() == 5)
        #expect(try await store.insert(account(9)))
        #expect(try await store.accountEvents(after: 0, limit: 9).map(\.number) == [6])
    }
}
