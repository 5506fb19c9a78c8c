import AuthCore
import AuthStorage
import Synchronization
import TestPrimitives
import Testing

@testable import Provisioning

@Suite struct EventDeliveryTests {
    /// A receiver, its answers, and what it has got.
    private final class Receiver: Sendable {
        private struct State {
            var answers: [Int64: [EventReceiver.Answer]] = [:]
            var standing: EventReceiver.Answer?
            var sent: [Int64] = []
            var reports: [EventDelivery.Report] = []
            var now = Instant(seconds: 1000)
        }

        private let state = Mutex(State())

        var now: Instant { state.withLock { $0.now } }
        /// The numbers of the events, in the order in which they were sent.
        var sent: [Int64] { state.withLock { $0.sent } }
        var reports: [EventDelivery.Report] { state.withLock { $0.reports } }

        func advance(by time: Duration) {
            state.withLock { $0.now = $0.now.advanced(by: time) }
        }

        /// What it answers to an event, once each; all others are accepted.
        func answer(_ answers: EventReceiver.Answer..., to number: Int64) {
            state.withLock { $0.answers[number] = answers }
        }

        /// What it answers to all events from now on.
        func answer(always answer: EventReceiver.Answer?) {
            state.withLock { $0.standing = answer }
        }

        func take(_ event: AccountEvent) -> EventReceiver.Answer {
            state.withLock { state in
                state.sent.append(event.number)
                if let standing = state.standing { return standing }
                guard let next = state.answers[event.number]?.first else { return .accepted }
                state.answers[event.number]?.removeFirst()
                return next
            }
        }

        func report(_ report: EventDelivery.Report) {
            state.withLock { $0.reports.append(report) }
        }
    }

    private let stores: Stores
    private let receiver = Receiver()

    init() throws {
        stores = try Database.openInMemory()
    }

    private func delivery(
        _ settings: EventDelivery.Settings = .init(),
        send: (@Sendable (AccountEvent) async -> EventReceiver.Answer)? = nil
    ) -> EventDelivery {
        let receiver = receiver
        return EventDelivery(
            stores.deliveries, settings: settings,
            send: { event, _ in
                guard let send else { return receiver.take(event) }
                return await send(event)
            },
            report: receiver.report, clock: { receiver.now }, jitter: { 1 })
    }

    private func id(_ number: Int) -> AccountID {
        AccountID(random: [UInt8(number)] + [UInt8](repeating: 0, count: 15))
    }

    private func event(_ kind: AuditEvent.Kind, _ subject: String) -> AuditEvent {
        AuditEvent(kind, time: Instant(seconds: 1), actor: .operator, subject: subject)
    }

    private func make(_ numbers: ClosedRange<Int>) async throws {
        for number in numbers {
            let address = try #require(Address(parsing: "user\(number)@mail.test"))
            let account = Account(
                id: id(number), address: address,
                credential: .password(PasswordHash(encoded: "none")), quota: 5,
                created: Instant(seconds: 1))
            let created = event(.accountCreated, "\(address)")
            _ = try await stores.accounts.insert(account, limit: nil, recording: created)
        }
    }

    private func disable(_ number: Int) async throws {
        _ = try await stores.accountDirectory.setState(
            of: id(number), to: .disabled,
            recording: event(.accountDisabled, "user\(number)"))
    }

    private var waiting: Int64 {
        get async throws { try await stores.deliveries.deliveryStatus(limit: 0).waiting }
    }

    @Test func everyEventIsSentOnceAndThoseOfAnAccountInOrder() async throws {
        try await make(1...20)
        for number in 1...20 { try await disable(number) }
        let delivery = delivery()
        try await delivery.run()
        #expect(receiver.sent.sorted() == Array(1...40))
        for number: Int64 in 1...20 {
            let places = [number, number + 20].compactMap { receiver.sent.firstIndex(of: $0) }
            #expect(places == places.sorted())
        }
        #expect(try await waiting == 0)
        try await delivery.run()
        #expect(receiver.sent.count == 40 && receiver.reports.isEmpty)
    }

    @Test func anEventThatIsNotAcceptedDelaysItsAddressAlone() async throws {
        try await make(1...3)
        try await disable(1)
        let refused = EventReceiver.Answer.rejected(cause: "it answered with status 500")
        receiver.answer(refused, refused, refused, refused, to: 1)
        let settings = EventDelivery.Settings(maxRetryInterval: .seconds(4))
        let delivery = delivery(settings)
        try await delivery.run()
        #expect(receiver.sent.sorted() == [1, 2, 3])
        // Each wait is twice the one before, up to the longest.
        for wait in [1, 2, 4, 4] {
            receiver.advance(by: .seconds(wait) - .milliseconds(1))
            let before = receiver.sent.count
            try await delivery.run()
            #expect(receiver.sent.count == before)
            receiver.advance(by: .milliseconds(1))
            try await delivery.run()
            #expect(receiver.sent.count > before && receiver.sent[before] == 1)
        }
        #expect(receiver.sent.suffix(2) == [1, 4])
        #expect(try await waiting == 0)
        // Those of the same minute are folded.
        guard receiver.reports.count == 1,
            case .rejected(let pending, let cause, let count)? = receiver.reports.first
        else {
            Issue.record("\(receiver.reports)")
            return
        }
        #expect(pending.event.number == 1 && pending.attempts == 1)
        #expect(cause == "it answered with status 500" && count == 1)
    }

    @Test func whileTheReceiverIsAwayOneEventAtATimeIsTried() async throws {
        try await make(1...40)
        receiver.answer(always: .unavailable(cause: "away"))
        let delivery = delivery()
        try await delivery.run()
        #expect(receiver.sent.count == 8)
        for (index, wait) in [1, 2, 4, 8, 16, 30, 30].enumerated() {
            try await delivery.run()
            receiver.advance(by: .seconds(wait) - .milliseconds(1))
            try await delivery.run()
            #expect(receiver.sent.count == 8 + index)
            receiver.advance(by: .milliseconds(1))
            try await delivery.run()
        }
        #expect(receiver.sent.count == 15)
        #expect(receiver.reports.first == .unavailable(cause: "away", count: 1))
        // 91 seconds, in which 14 attempts have failed: one line at once, and one after a minute.
        #expect(receiver.reports.count == 2)
        receiver.answer(always: nil)
        receiver.advance(by: EventDelivery.longestPause)
        try await delivery.run()
        receiver.advance(by: EventDelivery.longestPause)
        try await delivery.run()
        #expect(try await waiting == 0)
        #expect(receiver.reports.last == .availableAgain)
    }

    /// A receiver that never answers to one event does not keep the others.
    @Test func othersComeBeforeAnEventThatWasTried() async throws {
        try await make(1...1)
        receiver.answer(
            .unavailable(cause: "timed out"), .unavailable(cause: "timed out"), to: 1)
        let delivery = delivery()
        try await delivery.run()
        try await make(2...5)
        receiver.advance(by: .seconds(1))
        try await delivery.run()
        #expect(receiver.sent.prefix(2) == [1, 2])
        #expect(Set(receiver.sent) == [1, 2, 3, 4, 5])
    }

    @Test func atMostSoManyEventsAreSentAtOnce() async throws {
        try await make(1...12)
        let (tally, level) = (Tally(), Level())
        let settings = EventDelivery.Settings(inFlight: 3)
        let delivery = delivery(settings) { _ in
            tally.enter()
            level.raise()
            await level.reaches(3)
            tally.leave()
            return .accepted
        }
        try await delivery.run()
        #expect(tally.most == 3)
        #expect(try await waiting == 0)
    }

    @Test func anAttemptThatHasBegunIsNotedWhenTheServerStops() async throws {
        try await make(1...3)
        let settings = EventDelivery.Settings(inFlight: 1)
        let (begun, stopped) = (Level(), Level())
        let delivery = delivery(settings) { _ in
            begun.raise()
            await stopped.reaches(1)
            return .accepted
        }
        let running = Task { try await delivery.run() }
        await begun.reaches(1)
        running.cancel()
        stopped.raise()
        _ = try? await running.value
        // Nothing new was begun.
        #expect(try await waiting == 2)
    }

    @Test func aSenderThatEndsWithoutAWordLosesNothing() async throws {
        try await make(1...1)
        _ = try await stores.deliveries.takeDueEvents(
            at: receiver.now, until: receiver.now.advanced(by: .seconds(40)), limit: 9)
        let delivery = delivery()
        try await delivery.run()
        #expect(receiver.sent.isEmpty)
        receiver.advance(by: .seconds(40))
        try await delivery.run()
        #expect(receiver.sent == [1])
    }

    @Test func aClockThatIsSetBackDoesNotStopTheDeliveries() async throws {
        try await make(1...9)
        receiver.answer(.unavailable(cause: "away"), to: 1)
        let settings = EventDelivery.Settings(inFlight: 1)
        let delivery = delivery(settings)
        try await delivery.run()
        #expect(receiver.sent == [1])
        receiver.advance(by: .seconds(-600))
        try await delivery.run()
        #expect(receiver.sent.contains(9))
    }
}
