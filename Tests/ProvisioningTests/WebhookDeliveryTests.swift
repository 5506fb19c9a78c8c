import AuthCore
import AuthStorage
import Cryptography
import Synchronization
import TestPrimitives
import Testing

@testable import Provisioning

@Suite struct WebhookDeliveryTests {
    private let stores: Stores
    private let receiver = Receiver()

    init() throws {
        stores = try Database.openInMemory()
    }

    /// The receivers of all webhooks, by their URLs.
    private final class Receiver: Sendable {
        private struct State {
            var answers: [String: WebhookDelivery.Answer] = [:]
            var sent: [WebhookDelivery.Message] = []
            var counts: [WebhookEventResult: Int] = [:]
            var reports: [WebhookDelivery.Report] = []
            var now = Instant(seconds: 1000)
        }

        private let state = Mutex(State())

        var now: Instant { state.withLock { $0.now } }
        var sent: [WebhookDelivery.Message] { state.withLock { $0.sent } }
        var counts: [WebhookEventResult: Int] { state.withLock { $0.counts } }
        var reports: [WebhookDelivery.Report] { state.withLock { $0.reports } }

        func advance(by time: Duration) {
            state.withLock { $0.now = $0.now.advanced(by: time) }
        }

        func answer(_ answer: WebhookDelivery.Answer?, at url: String) {
            state.withLock { $0.answers[url] = answer }
        }

        func take(_ message: WebhookDelivery.Message) -> WebhookDelivery.Answer {
            state.withLock { state in
                state.sent.append(message)
                return state.answers[message.url] ?? .init(status: 200)
            }
        }

        func count(_ result: WebhookEventResult, _ number: Int) {
            state.withLock { $0.counts[result, default: 0] += number }
        }

        func report(_ report: WebhookDelivery.Report) {
            state.withLock { $0.reports.append(report) }
        }
    }

    private func delivery(
        inFlight: Int = 8,
        send: (@Sendable (WebhookDelivery.Message) async -> WebhookDelivery.Answer)? = nil,
        open: @escaping @Sendable ([UInt8], SealedSecret) throws -> [UInt8] = { secret, _ in secret
        }
    ) -> WebhookDelivery {
        let receiver = receiver
        return WebhookDelivery(
            stores.webhookQueue, settings: .init(inFlight: inFlight), open: open,
            send: send ?? { receiver.take($0) }, count: receiver.count, report: receiver.report,
            random: RandomBytes.make, clock: { receiver.now })
    }

    private func id<Kind>(_ number: Int) -> Identifier<Kind> {
        Identifier(random: [UInt8(number)] + [UInt8](repeating: 0, count: 15))
    }

    private func audit(_ kind: AuditEvent.Kind) -> AuditEvent {
        AuditEvent(kind, time: Instant(seconds: 1), actor: .operator, subject: "s")
    }

    private func url(_ number: Int) -> String { "https://example.com/\(number)" }

    private func make(_ number: Int, events: Int) async throws {
        let user = User(
            id: id(number), email: try #require(Email(parsing: "u\(number)@example.com")),
            state: .active, password: PasswordHash(encoded: "none"), credentialVersion: 1,
            created: Instant(seconds: 1))
        _ = try await stores.users.insert(user, recording: audit(.userCreated))
        let webhook = Webhook(
            id: id(number), owner: user.id, url: url(number), events: [.emailReceived],
            sealedSecret: [1, 2, 3], created: Instant(seconds: 1))
        _ = try await stores.webhooks.insert(webhook, recording: audit(.webhookCreated))
        guard events > 0 else { return }
        let added = try await stores.webhookQueue.add(
            (1...events).map { each in
                let event = WebhookEvent(
                    id: "evt_\(number)_\(each)", kind: .emailReceived, body: Array("{}".utf8),
                    created: Instant(seconds: 2))
                return (event, user.id)
            })
        #expect(added.count { $0 } == events)
    }

    @Test func everyEventIsSentOnce() async throws {
        for number in 1...5 { try await make(number, events: 30) }
        try await delivery(inFlight: 2).run()
        #expect(receiver.sent.count == 150)
        #expect(Set(receiver.sent.map { $0.headers[0].value }).count == 150)
        #expect(receiver.counts == [.accepted: 150] && receiver.reports.isEmpty)
        try await delivery().run()
        #expect(receiver.sent.count == 150)
    }

    @Test func anEventIsRepeatedAfterTheDocumentedTimesUntilItHasFailed() async throws {
        try await make(1, events: 1)
        receiver.answer(.init(status: 500, error: "no", cause: "why"), at: url(1))
        try await delivery().run()
        for (count, wait) in Webhook.retries.enumerated() {
            #expect(receiver.sent.count == count + 1)
            receiver.advance(by: wait - .milliseconds(1))
            try await delivery().run()
            #expect(receiver.sent.count == count + 1)
            receiver.advance(by: .milliseconds(1))
            try await delivery().run()
        }
        #expect(receiver.sent.count == 6)
        #expect(receiver.counts == [.rejected: 6, .failed: 1])
        receiver.advance(by: .seconds(100_000))
        try await delivery().run()
        #expect(receiver.sent.count == 6)
        #expect(try await stores.webhooks.webhook(of: id(1))?.failures == 1)
        #expect(
            try await stores.webhooks.attempts(of: id(1)).map(\.number) == [6, 5, 4, 3, 2, 1])
    }

    @Test func twentyFailedEventsDisableAWebhook() async throws {
        try await make(1, events: 22)
        receiver.answer(.init(status: 302, error: "no"), at: url(1))
        for wait in [Duration.zero] + Webhook.retries {
            receiver.advance(by: wait)
            try await delivery().run()
        }
        #expect(try await stores.webhooks.webhook(of: id(1))?.status == .disabled)
        #expect(receiver.counts[.failed] == 20 && receiver.counts[.removed] == 2)
        #expect(receiver.reports.last == .disabled(id(1)))
    }

    /// Half of the places are left to receivers that answer.
    @Test func receiversThatHangLeavePlacesToOthers() async throws {
        for number in 1...4 { try await make(number, events: 2) }
        for number in 1...3 {
            receiver.answer(.init(status: nil, error: "slow"), at: url(number))
        }
        let delivery = delivery(inFlight: 2)
        try await delivery.run()
        receiver.advance(by: .seconds(1))
        let hanging = Mutex(0)
        let most = Mutex(0)
        let open = AsyncStream<Void>.makeStream()
        let receiver = receiver
        let blocked = self.delivery(
            inFlight: 2,
            send: { message in
                guard message.url != "https://example.com/4" else {
                    open.continuation.finish()
                    return receiver.take(message)
                }
                let now = hanging.withLock { number in
                    number += 1
                    return number
                }
                most.withLock { $0 = max($0, now) }
                for await _ in open.stream {}
                hanging.withLock { $0 -= 1 }
                return receiver.take(message)
            })
        let owner: UserID = id(4)
        let late = WebhookEvent(
            id: "evt_late", kind: .emailReceived, body: [], created: receiver.now)
        async let run: Void = blocked.run()
        #expect(try await stores.webhookQueue.add([(late, owner)]) == [true])
        try await run
        #expect(receiver.sent.contains { $0.headers[0].value == "evt_late" })
        #expect(most.withLock { $0 } == 1)
    }

    @Test func aSecretThatCannotBeReadIsAFailedAttempt() async throws {
        try await make(1, events: 1)
        try await delivery(open: { _, _ in throw StoreBusy() }).run()
        #expect(receiver.sent.isEmpty)
        #expect(
            try await stores.webhooks.attempts(of: id(1)).map(\.error)
                == ["the secret cannot be read; rotate it"])
    }

    @Test func bothSignaturesAreMadeOfOneSecret() throws {
        let event = WebhookEvent(
            id: "evt_1", kind: .test, body: Array("{\"test\":1}".utf8), created: Instant(seconds: 0)
        )
        let fields = WebhookDelivery.fields(
            of: event, Array("0123456789abcdef0123456789abcdef".utf8),
            at: Instant(seconds: 1_700_000_000))
        // By Python: hmac.digest(b"whsec_" + b64encode(key), b"1700000000." + body, "sha256").
        #expect(
            fields.map(\.name) == [
                "X-Webhook-ID", "X-Webhook-Timestamp", "X-Webhook-Signature", "webhook-id",
                "webhook-timestamp", "webhook-signature",
            ])
        #expect(
            fields.map(\.value) == [
                "evt_1", "1700000000",
                "sha256=40c3d9e6ecf54964d8156038615e2020d108a2ca75c755b933f1c102018b1081", "evt_1",
                "1700000000", "v1,S8hVzQWWGRCREAGSQ4PmyZYmnWbAWzfozLGGgl6bi/E=",
            ])
    }
}
