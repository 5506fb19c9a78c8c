import AuthCore
import Testing

/// What every engine guarantees about recorded events.
@Suite(.indexesAreUsed) struct AuditLogTests {
    private func filled(_ engine: Engine, times: [Int64]) async throws -> any EngineStore {
        let store = try await engine.open()
        for (index, time) in times.enumerated() {
            try await store.append(event(.loginFailed, "\(index + 1)", time: time))
        }
        return store
    }

    @Test(arguments: Engine.allCases)
    func everyKindOfEventIsStoredAndRead(engine: Engine) async throws {
        let store = try await engine.open()
        var expected: [AuditRecord] = []
        let email = try #require(Email(parsing: "a+b@example.com"))
        let actors: [AuditEvent.Actor] = [
            .anonymous, .operator, .account(AccountID(random: Array(0..<16))),
            .user(UserID(random: Array(16..<32))), .email(email),
        ]
        for (index, kind) in AuditEvent.Kind.allCases.enumerated() {
            let one = AuditEvent(
                kind, time: Instant(milliseconds: -Int64(index)), actor: actors[index % 5],
                subject: "caf\u{e9}\n'", client: "192.0.2.\(index)", requestID: "r\(index)")
            try await store.append(one)
            expected.append(AuditRecord(sequence: Int64(index) + 1, event: one))
        }
        #expect(try await store.events(after: nil, limit: 100) == expected)
    }

    @Test(arguments: Engine.allCases)
    func eventsAreReadOldestFirstInPages(engine: Engine) async throws {
        let store = try await filled(engine, times: [5, 1, 9, 1, 2])
        #expect(try await store.subjects == ["1", "2", "3", "4", "5"])
        var seen: [Int64] = []
        while let page = Optional(try await store.events(after: seen.last, limit: 2)),
            !page.isEmpty
        {
            seen += page.map(\.sequence)
        }
        #expect(seen == [1, 2, 3, 4, 5])
        #expect(try await store.events(after: .max, limit: 9).isEmpty)
        #expect(try await store.events(after: .min, limit: 9).count == 5)
    }

    @Test(arguments: Engine.allCases)
    func theLatestEventsAreReturnedOldestFirst(engine: Engine) async throws {
        let store = try await filled(engine, times: [1, 2, 3, 4])
        #expect(try await store.latestEvents(limit: 2).map(\.sequence) == [3, 4])
        #expect(try await store.latestEvents(limit: .max).map(\.sequence) == [1, 2, 3, 4])
    }

    @Test(arguments: Engine.allCases)
    func aLimitOfZeroOrLessReturnsAndTrimsNothing(engine: Engine) async throws {
        let store = try await filled(engine, times: [1])
        for limit in [0, -1, .min] {
            #expect(try await store.events(after: nil, limit: limit).isEmpty)
            #expect(try await store.latestEvents(limit: limit).isEmpty)
            #expect(try await store.trim(before: Instant(milliseconds: 9), limit: limit) == 0)
        }
        #expect(try await store.subjects == ["1"])
    }

    @Test(arguments: Engine.allCases)
    func numbersRiseByOneUnderConcurrentAppends(engine: Engine) async throws {
        let store = try await engine.open()
        _ = try await winners(of: 50) { number in
            try await store.append(event(.loginSucceeded, "\(number)"))
            return true
        }
        let all = try await store.events(after: nil, limit: 100)
        #expect(all.map(\.sequence) == Array(1...50))
        #expect(Set(all.map(\.event.subject)).count == 50)
    }

    @Test(arguments: Engine.allCases)
    func trimmingRemovesOnlyOlderEvents(engine: Engine) async throws {
        let store = try await filled(engine, times: [1, 2, 3, 4, 5])
        #expect(try await store.trim(before: Instant(milliseconds: 3), limit: 100) == 2)
        #expect(try await store.trim(before: Instant(milliseconds: 3), limit: 100) == 0)
        #expect(try await store.subjects == ["3", "4", "5"])
    }

    @Test(arguments: Engine.allCases)
    func trimmingRemovesAtMostItsLimitOldestFirst(engine: Engine) async throws {
        let store = try await filled(engine, times: [1, 1, 1, 1, 1])
        let later = Instant(milliseconds: 9)
        #expect(try await store.trim(before: later, limit: 2) == 2)
        #expect(try await store.subjects == ["3", "4", "5"])
        #expect(try await store.trim(before: later, limit: .max) == 3)
        #expect(try await store.trim(before: later, limit: .max) == 0)
    }

    @Test(arguments: Engine.allCases)
    func trimmingLeavesNoGapBetweenEvents(engine: Engine) async throws {
        // The third event was written by a server whose clock was ahead.
        let store = try await filled(engine, times: [1, 2, 9, 3, 4, 5])
        #expect(try await store.trim(before: Instant(milliseconds: 5), limit: 100) == 2)
        #expect(try await store.subjects == ["3", "4", "5", "6"])
        #expect(try await store.trim(before: Instant(milliseconds: 10), limit: 100) == 4)
    }

    @Test(arguments: Engine.allCases)
    func aNumberIsNotUsedAgain(engine: Engine) async throws {
        let store = try await filled(engine, times: [1, 2, 3])
        #expect(try await store.trim(before: Instant(milliseconds: 9), limit: 9) == 3)
        #expect(try await store.events(after: nil, limit: 9).isEmpty)
        try await store.append(event())
        #expect(try await store.events(after: nil, limit: 9).map(\.sequence) == [4])
        #expect(try await store.events(after: 2, limit: 9).map(\.sequence) == [4])
    }

    private func failure(
        _ subject: String, from client: String, at milliseconds: Int64, id: String = "r"
    ) -> AuditEvent {
        AuditEvent(
            .loginFailed, time: Instant(milliseconds: milliseconds), actor: .anonymous,
            subject: subject, client: client, requestID: id)
    }

    @Test(arguments: Engine.allCases)
    func failuresOfOneSubjectClientAndMinuteAreOneRecordWithACount(engine: Engine) async throws {
        let store = try await engine.open()
        let first = failure("a", from: "2001:db8::1", at: 60_000, id: "first")
        try await store.append(first)
        _ = try await winners(of: 50) { number in
            try await store.append(
                failure("a", from: "2001:db8::\(number + 2)", at: 60_000 + Int64(number) * 1000))
            return true
        }
        let others = [
            failure("b", from: "2001:db8::1", at: 60_000),
            failure("a", from: "2001:db8:0:1::1", at: 60_000),
            failure("a", from: "2001:db8::1", at: 120_000), failure("a", from: "", at: 60_000),
            failure("a", from: "192.0.2.1", at: 60_000), failure("a", from: "192.0.2.1", at: -1),
            failure("a", from: "192.0.2.2", at: 60_000),
        ]
        for other in others { try await store.append(other) }
        let all = try await store.events(after: nil, limit: 100)
        #expect(all.map(\.event) == [first] + others)
        #expect(all.map(\.count) == [51] + others.map { _ in 1 })
        #expect(all.map(\.sequence) == Array(1...8))
    }

    @Test(arguments: Engine.allCases)
    func otherEventsAreNotFolded(engine: Engine) async throws {
        let store = try await engine.open()
        for kind in AuditEvent.Kind.allCases where !kind.isFolded {
            for _ in 0..<2 { try await store.append(event(kind, "a")) }
        }
        let all = try await store.events(after: nil, limit: 100)
        #expect(all.count == 2 * (AuditEvent.Kind.allCases.count - 1))
        #expect(all.allSatisfy { $0.count == 1 })
    }

    @Test(arguments: Engine.allCases)
    func aLoginIsFoundByNameNetworkAndTime(engine: Engine) async throws {
        let store = try await engine.open()
        let name = LoginName.mailbox(try address("a@mail.test"))
        try await store.append(
            AuditEvent(
                .loginSucceeded, time: Instant(milliseconds: 5), actor: .account(accountID(1)),
                subject: "a@mail.test", client: "2001:db8::7"))
        func found(
            _ name: LoginName, _ network: String = "2001:db8::/64", since: Int64 = 5
        ) async throws -> Bool {
            try await store.hasLoggedIn(
                name, from: network, since: Instant(milliseconds: since))
        }
        #expect(try await found(name))
        #expect(try await !found(name, since: 6))
        #expect(try await !found(name, "2001:db8:0:1::/64"))
        #expect(try await !found(.user(email("a@mail.test"))))
        #expect(try await !found(.hashLogin(email("a@mail.test"))))
        #expect(try await !found(.mailbox(address("b@mail.test"))))
        try await store.append(
            AuditEvent(
                .loginSucceeded, time: Instant(milliseconds: 5),
                actor: .email(try email("a@mail.test")), subject: "a@mail.test",
                client: "192.0.2.1"))
        #expect(try await found(.hashLogin(email("a@mail.test")), "192.0.2.1"))
        #expect(try await !found(name, "192.0.2.1"))
    }
}
