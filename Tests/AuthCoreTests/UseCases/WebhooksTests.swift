import AuthCore
import Cryptography
import Scheduling
import TestSupport
import Testing

struct WebhooksTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    private func create(for user: User) async throws -> Webhooks.Issued {
        try await world.webhooks.create(
            url: "https://example.com/", events: [.emailReceived], for: user, by: world.caller)
    }

    @Test func aSecretIsStoredEncrypted() async throws {
        let user = try await world.addUser("ada@example.test")
        let issued = try await create(for: user)
        let bytes = try #require(Base64.decode(issued.secret.dropFirst("whsec_".count).utf8))
        #expect(bytes.count == 32)
        let stored = try #require(try await world.stores.webhooks.webhook(of: user.id))
        #expect(stored == issued.webhook && !stored.sealedSecret.starts(with: bytes))
        #expect(try world.keys.open(stored.sealedSecret, as: .webhook(stored.id)) == bytes)
        // It is of this webhook.
        let other = WebhookID(random: [UInt8](repeating: 1, count: 16))
        #expect(throws: UnreadableKey.self) {
            try world.keys.open(stored.sealedSecret, as: .webhook(other))
        }
        let rotated = try await world.webhooks.rotate(
            stored.id, of: user, by: world.caller)
        #expect(rotated.secret != issued.secret)
        #expect(rotated.webhook.sealedSecret != stored.sealedSecret)
        #expect(
            try await world.events.map(\.kind).suffix(2) == [.webhookCreated, .webhookRotated])
    }

    @Test func aSecondWebhookAndAURLThatIsNotAllowedAreRefused() async throws {
        let user = try await world.addUser("ada@example.test")
        await #expect(throws: AccountsError.invalidURL) {
            _ = try await world.webhooks.create(
                url: "http://example.com/", events: [.emailReceived], for: user,
                by: world.caller)
        }
        _ = try await create(for: user)
        await #expect(throws: AccountsError.webhookExists) { _ = try await create(for: user) }
    }

    @Test func aWebhookHasNoOtherID() async throws {
        let user = try await world.addUser("ada@example.test")
        let issued = try await create(for: user)
        let other = try await create(for: try await world.addUser("other@example.test"))
        #expect(try await world.webhooks.deliveries(of: issued.webhook.id, of: user).isEmpty)
        for id in [other.webhook.id, WebhookID(random: [UInt8](repeating: 1, count: 16)), nil] {
            await #expect(throws: AccountsError.notFound) {
                _ = try await world.webhooks.deliveries(of: id, of: user)
            }
            await #expect(throws: AccountsError.notFound) {
                _ = try await world.webhooks.sendTest(to: id, of: user, by: world.caller)
            }
        }
    }

    @Test func aMessageIsAnEventOfItsOwnersWebhookOnly() async throws {
        let user = try await world.addUser("ada@example.test")
        _ = try await create(for: user)
        func account(_ owner: UserID?) throws -> Account {
            Account(
                id: AccountID(random: world.random.make(16)),
                address: try #require(Address(parsing: "box@mail.test")),
                credential: .password(PasswordHash(encoded: "none")), owner: owner, quota: 1,
                created: world.clock.now)
        }
        let mail = ReceivedMail(
            address: "box@mail.test", from: "a@example.com",
            subject: String(repeating: "\u{1F600}", count: 500), size: 3)
        let other = try await world.addUser("other@example.test")
        try await world.webhookEvents.add(
            [(mail, account(nil)), (mail, account(other.id)), (mail, account(user.id))],
            at: world.clock.now)
        #expect(world.webhookResults.value(.queued) == 1)
        let taken = try await world.stores.webhookQueue.takeWebhookEvents(
            at: world.clock.now, until: world.clock.now.advanced(by: .seconds(9)), limit: 9,
            slow: 9)
        #expect(taken.map(\.owner) == [user.id])
        let body = String(decoding: taken[0].event.body, as: UTF8.self)
        // Cut at a character: four bytes each.
        #expect(body.contains(String(repeating: "\u{1F600}", count: 250) + "\""))
    }
}
