import AuthCore
import AuthStorage
import Testing

/// What every engine guarantees about webhooks and their events.
@Suite(.indexesAreUsed) struct WebhookStoreTests {
    private func id<Kind>(_ number: Int) -> Identifier<Kind> {
        Identifier(random: [UInt8(number)] + [UInt8](repeating: 7, count: 15))
    }

    private func time(_ seconds: Int64) -> Instant { Instant(seconds: seconds) }

    /// The webhook of the user with the same number.
    private func webhook(_ number: Int) -> Webhook {
        Webhook(
            id: id(number), owner: userID(number), url: "https://example.com/\(number)",
            events: [.emailReceived], sealedSecret: [0, 1, UInt8(number)], created: time(1))
    }

    private func filled(_ engine: Engine, webhooks: Int = 3) async throws -> any EngineStore {
        let store = try await engine.open()
        for number in 1...webhooks {
            #expect(try await store.insert(user(number)))
            #expect(
                try await store.insert(webhook(number), recording: event(.webhookCreated)))
        }
        return store
    }

    private func hook(
        _ name: String, at seconds: Int64 = 1, _ kind: Webhook.EventKind = .emailReceived
    ) -> WebhookEvent {
        WebhookEvent(
            id: "evt_\(name)", kind: kind, body: Array("{\"\0\(name)\"}".utf8),
            created: time(seconds))
    }

    private func attempt(
        _ number: Int, of pending: PendingWebhookEvent, at seconds: Int64, error: String? = nil,
        milliseconds: Int64 = 3
    ) -> WebhookAttempt {
        WebhookAttempt(
            id: id(number), eventID: pending.event.id, kind: pending.event.kind,
            status: error == nil ? 200 : nil, error: error, number: pending.attempts,
            milliseconds: milliseconds, time: time(seconds))
    }

    private func take(
        _ store: any EngineStore, at seconds: Int64, limit: Int = 9, slow: Int = 9
    ) async throws -> [PendingWebhookEvent] {
        try await store.takeWebhookEvents(
            at: time(seconds), until: time(seconds + 15), limit: limit, slow: slow
        ).sorted { $0.event.id < $1.event.id }
    }

    private func add(_ store: any EngineStore, _ names: String..., to number: Int) async throws {
        let added = try await store.add(names.map { (hook($0), userID(number)) })
        #expect(added == names.map { _ in true })
    }

    private func disabling() -> AuditEvent { event(.webhookDisabled) }

    @Test(arguments: Engine.allCases)
    func aUserHasOneWebhook(engine: Engine) async throws {
        let store = try await filled(engine, webhooks: 2)
        #expect(try await store.webhook(of: userID(1)) == webhook(1))
        let other = Webhook(
            id: id(9), owner: userID(1), url: "https://example.org/", events: [.emailReceived],
            sealedSecret: [], created: time(1))
        #expect(try await !store.insert(other, recording: event(.webhookCreated)))
        #expect(
            try await !store.removeWebhook(
                id(1), of: userID(2), recording: event(.webhookRemoved)))
        #expect(
            try await !store.rotateSecret(
                of: id(1), of: userID(2), to: [9], recording: event(.webhookRotated)))
        #expect(
            try await store.rotateSecret(
                of: id(1), of: userID(1), to: [9], recording: event(.webhookRotated)))
        #expect(try await store.webhook(of: userID(1))?.sealedSecret == [9])
        try await add(store, "a", to: 1)
        #expect(
            try await store.removeWebhook(
                id(1), of: userID(1), recording: event(.webhookRemoved)))
        #expect(try await store.webhook(of: userID(1)) == nil)
        #expect(try await !store.hasDueWebhook(at: time(99)))
        #expect(try await store.webhook(of: userID(2)) == webhook(2))
    }

    @Test(arguments: Engine.allCases)
    func oneEventOfAWebhookIsSentAtATime(engine: Engine) async throws {
        let store = try await filled(engine)
        #expect(try await !store.hasDueWebhook(at: time(5)))
        try await add(store, "a", "b", to: 1)
        try await add(store, "c", to: 2)
        #expect(try await store.add([(hook("d"), userID(7))]) == [false])
        #expect(try await store.hasDueWebhook(at: time(5)))
        #expect(try await take(store, at: 5, limit: 0).isEmpty)
        let taken = try await take(store, at: 5)
        #expect(taken.map(\.event) == [hook("a"), hook("c")])
        #expect(taken.map(\.webhook) == [id(1), id(2)] && taken.allSatisfy { $0.attempts == 1 })
        #expect(taken[0].owner == userID(1) && taken[0].url == webhook(1).url)
        #expect(taken[0].sealedSecret == webhook(1).sealedSecret && !taken[0].isSlow)
        try await add(store, "e", to: 1)
        #expect(try await take(store, at: 6).isEmpty)

        let next = try await store.noteAccepted(
            taken[0], attempt(1, of: taken[0], at: 7), takingNextUntil: time(22))
        #expect(next?.event == hook("b"))
        #expect(try await take(store, at: 8).isEmpty)
        let second = try #require(next)
        #expect(
            try await store.noteAccepted(
                second, attempt(2, of: second, at: 8), takingNextUntil: nil) == nil)
        #expect(try await take(store, at: 8).map(\.event) == [hook("e")])
        #expect(try await store.attempts(of: id(1)).map(\.eventID) == ["evt_b", "evt_a"])
        #expect(try await store.webhook(of: userID(1))?.lastTriggered == time(8))
    }

    @Test(arguments: Engine.allCases)
    func anEventWhoseSenderHasEndedIsTakenAgain(engine: Engine) async throws {
        let store = try await filled(engine)
        try await add(store, "a", to: 1)
        #expect(try await take(store, at: 5).count == 1)
        #expect(try await take(store, at: 19).isEmpty)
        let again = try await take(store, at: 20)
        #expect(again.map(\.event) == [hook("a")] && again[0].attempts == 2)
    }

    @Test(arguments: Engine.allCases)
    func anEventThatIsNotAcceptedIsDueLaterAndDelaysNoOther(engine: Engine) async throws {
        let store = try await filled(engine)
        try await add(store, "a", "b", to: 1)
        let first = try #require(try await take(store, at: 5).first)
        #expect(
            try await store.noteRejected(
                first, attempt(1, of: first, at: 6, error: "no"), retryAt: time(30),
                recording: disabling()) == nil)
        let second = try #require(try await take(store, at: 6).first)
        #expect(second.event == hook("b") && second.isSlow)
        #expect(
            try await store.noteAccepted(
                second, attempt(2, of: second, at: 7), takingNextUntil: time(22)) == nil)
        #expect(try await take(store, at: 29).isEmpty)
        let again = try await take(store, at: 30)
        #expect(again.map(\.event) == [hook("a")] && again[0].attempts == 2)
        // Once accepted is not enough.
        #expect(again[0].isSlow)
        let shown = try await store.attempts(of: id(1))
        #expect(shown.map(\.error) == [nil, "no"] && shown.map(\.status) == [200, nil])
        #expect(shown[1] == attempt(1, of: first, at: 6, error: "no"))
    }

    @Test(arguments: Engine.allCases)
    func slowWebhooksAreTakenAfterTheOthersAndUpToTheirLimit(engine: Engine) async throws {
        let store = try await filled(engine, webhooks: 4)
        for number in 1...3 { try await add(store, "\(number)", "\(number)+", to: number) }
        for pending in try await take(store, at: 5) {
            // The third is accepted, but takes long.
            let isThird = pending.webhook == id(3)
            let attempt = attempt(
                Int(pending.number), of: pending, at: 6, error: isThird ? nil : "no",
                milliseconds: 1000)
            if isThird {
                _ = try await store.noteAccepted(pending, attempt, takingNextUntil: nil)
            } else {
                _ = try await store.noteRejected(
                    pending, attempt, retryAt: time(99), recording: disabling())
            }
        }
        try await add(store, "4", to: 4)
        #expect(try await take(store, at: 7, slow: 0).map(\.event) == [hook("4")])
        #expect(try await take(store, at: 7, limit: 1, slow: 9).count == 1)
        #expect(try await take(store, at: 7, limit: 9, slow: 1).count == 1)
        #expect(try await take(store, at: 7).count == 1)
    }

    @Test(arguments: Engine.allCases)
    func aSlowWebhookIsQuickAgainAfterTwentyQuickAttempts(engine: Engine) async throws {
        let store = try await filled(engine, webhooks: 1)
        for number in 10...40 { try await add(store, "\(number)", to: 1) }
        func accept(_ numbers: Range<Int>) async throws {
            for number in numbers {
                let pending = try #require(try await take(store, at: 5).first)
                let attempt = attempt(
                    number, of: pending, at: 6, milliseconds: number == 1 ? 1000 : 3)
                _ = try await store.noteAccepted(pending, attempt, takingNextUntil: nil)
            }
        }
        try await accept(1..<20)
        #expect(try await take(store, at: 7, slow: 0).isEmpty)
        try await accept(20..<23)
        #expect(try await take(store, at: 7, slow: 0).count == 1)
    }

    @Test(arguments: Engine.allCases)
    func aWebhookIsDisabledAfterTwentyFailedEventsInARow(engine: Engine) async throws {
        let store = try await filled(engine, webhooks: 1)
        for number in 1...25 { try await add(store, "\(number + 10)", to: 1) }
        var number = 0
        func fail() async throws -> Int? {
            let pending = try #require(try await take(store, at: 5).first)
            number += 1
            return try await store.noteRejected(
                pending, attempt(number, of: pending, at: 5, error: "no"), retryAt: nil,
                recording: disabling())
        }
        for _ in 1...3 { #expect(try await fail() == nil) }
        #expect(try await store.webhook(of: userID(1))?.failures == 3)
        let accepted = try #require(try await take(store, at: 5).first)
        _ = try await store.noteAccepted(
            accepted, attempt(99, of: accepted, at: 5), takingNextUntil: nil)
        #expect(try await store.webhook(of: userID(1))?.failures == 0)
        for _ in 1...19 { #expect(try await fail() == nil) }
        let before = try await store.subjects.count
        // Two events were waiting.
        #expect(try await fail() == 1)
        let disabled = try #require(try await store.webhook(of: userID(1)))
        #expect(disabled.status == .disabled && disabled.failures == 20)
        #expect(try await store.subjects.count == before + 1)
        #expect(try await !store.hasDueWebhook(at: time(9999)))
        #expect(try await store.add([(hook("x"), userID(1))]) == [false])
        #expect(try await store.attempts(of: id(1)).count == Webhook.attemptsKept)

        _ = try await store.rotateSecret(
            of: id(1), of: userID(1), to: [1], recording: event(.webhookRotated))
        let rotated = try #require(try await store.webhook(of: userID(1)))
        #expect(rotated.status == .active && rotated.failures == 0)
        try await add(store, "y", to: 1)
        #expect(try await take(store, at: 10).map(\.event) == [hook("y")])
    }

    @Test(arguments: Engine.allCases)
    func eventsBeyondTheQueueAreDropped(engine: Engine) async throws {
        let store = try await filled(engine, webhooks: 1)
        let events = (1...Webhook.queueLimit + 1).map { (hook("\($0)"), userID(1)) }
        let added = try await store.add(events)
        #expect(added.count { $0 } == Webhook.queueLimit && added.last == false)
        let taken = try #require(try await take(store, at: 5).first)
        _ = try await store.noteAccepted(
            taken, attempt(1, of: taken, at: 5), takingNextUntil: nil)
        #expect(
            try await store.add([(hook("x"), userID(1)), (hook("y"), userID(1))])
                == [true, false])
    }

    @Test(arguments: Engine.allCases)
    func aDisabledUserGetsNoEvents(engine: Engine) async throws {
        let store = try await filled(engine, webhooks: 1)
        _ = try await store.setState(
            of: userID(1), to: .disabled, recording: event(.userDisabled))
        #expect(try await store.add([(hook("x"), userID(1))]) == [false])
    }

    @Test(arguments: Engine.allCases)
    func anAttemptOfAWebhookThatWasRemovedIsForgotten(engine: Engine) async throws {
        let store = try await filled(engine, webhooks: 1)
        try await add(store, "a", to: 1)
        let taken = try #require(try await take(store, at: 5).first)
        _ = try await store.removeWebhook(
            id(1), of: userID(1), recording: event(.webhookRemoved))
        #expect(
            try await store.noteAccepted(
                taken, attempt(1, of: taken, at: 5), takingNextUntil: time(20)) == nil)
        #expect(
            try await store.noteRejected(
                taken, attempt(2, of: taken, at: 5, error: "no"), retryAt: nil,
                recording: disabling()) == nil)
        #expect(try await store.attempts(of: id(1)).isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func secretsAreSealedAgainWithTheKeys(engine: Engine) async throws {
        let store = try await filled(engine, webhooks: 2)
        _ = try await store.reseal(
            recording: event(.keysResealed),
            secrets: { secret, sealed in sealed + [secret == .webhook(webhook(1).id) ? 8 : 9] },
            { $0.sealed })
        #expect(try await store.webhook(of: userID(1))?.sealedSecret == [0, 1, 1, 8])
        #expect(try await store.webhook(of: userID(2))?.sealedSecret == [0, 1, 2, 9])
    }

    @Test(arguments: Engine.shared)
    func anEventIsTakenByOneServer(engine: Engine) async throws {
        let stores = try await engine.openShared(count: 2)
        for number in 1...8 {
            #expect(try await stores[0].insert(user(number)))
            #expect(
                try await stores[0].insert(
                    webhook(number), recording: event(.webhookCreated)))
            try await add(stores[0], "\(number)", to: number)
        }
        let taken = try await withThrowingTaskGroup(of: [PendingWebhookEvent].self) { group in
            for store in stores {
                for _ in 1...4 { group.addTask { try await take(store, at: 5, limit: 3) } }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        var ids = taken.map(\.event.id)
        // Rows that another transaction has locked were skipped.
        ids += try await take(stores[0], at: 5).map(\.event.id)
        #expect(ids.sorted() == (1...8).map { "evt_\($0)" })
    }
}
