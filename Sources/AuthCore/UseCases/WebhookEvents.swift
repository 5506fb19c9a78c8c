internal import Cryptography
public import Scheduling
internal import StrictJSON

/// A message that was delivered to an account.
public struct ReceivedMail: Sendable {
    /// Longer texts are cut, because they come from strangers.
    static let maximumTextBytes = 1000

    /// The account's own address, or the sub-address that the message was sent to.
    public internal(set) var address: String
    /// As the messages endpoints name it; `nil` where the mail store does not say.
    public let messageID: String?
    public let from: String
    public let subject: String
    public let preview: String
    /// In bytes; `nil` where the mail store does not say.
    public let size: Int64?

    public init(
        address: String, messageID: String? = nil, from: String, subject: String,
        preview: String = "", size: Int64?
    ) {
        self.address = address
        self.messageID = messageID
        self.from = from
        self.subject = subject
        self.preview = preview
        self.size = size
    }
}

/// What has become of an event of a webhook.
public enum WebhookEventResult: String, CaseIterable, Sendable {
    /// Stored, to be sent.
    case queued
    /// Too many events of the webhook are waiting.
    case dropped
    /// The database could not store it, and it is tried again.
    case retried
    /// The database could not store it, although it was tried several times.
    case lost
    /// The receiver has accepted it.
    case accepted
    /// An attempt was not accepted. It is repeated, unless it was the last one.
    case rejected
    /// It was not accepted by the last attempt.
    case failed
    /// It was waiting when the webhook was disabled.
    case removed
}

/// Makes the events that are sent to users' webhooks.
public struct WebhookEvents: Sendable {
    private static let tries = 3

    private let accounts: any AccountStore
    private let webhooks: any WebhookStore
    private let queue: any WebhookQueue
    private let results: Counters<WebhookEventResult>
    private let random: @Sendable (Int) -> [UInt8]

    public init(
        stores: Stores, results: Counters<WebhookEventResult>,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        accounts = stores.accounts
        webhooks = stores.webhooks
        queue = stores.webhookQueue
        self.results = results
        self.random = random
    }

    /// Stores events for messages that were delivered. Accounts without an owner, and owners
    /// without a webhook, get none.
    ///
    /// When this returns, the events are durable.
    public func add(_ received: [(mail: ReceivedMail, account: Account)], at now: Instant)
        async throws
    {
        var events: [(event: WebhookEvent, owner: UserID)] = []
        var subscribed: [UserID: Bool] = [:]
        for (mail, account) in received {
            guard let owner = account.owner else { continue }
            if subscribed[owner] == nil { subscribed[owner] = try await isSubscribed(owner) }
            guard subscribed[owner] == true else { continue }
            let event = event(.emailReceived, at: now) { $0.write(mail, of: account) }
            events.append((event, owner))
        }
        guard !events.isEmpty else { return }
        note(try await queue.add(events))
    }

    /// As ``add(_:at:)``, for a message whose delivery cannot be undone: tries again while the
    /// database is busy.
    public func addDelivered(
        _ mail: ReceivedMail, to address: Address, at now: Instant
    ) async {
        for number in 1...Self.tries {
            do {
                guard let account = try await accounts.account(address: address) else { return }
                return try await add([(mail, account)], at: now)
            } catch {
                results.add(number == Self.tries ? .lost : .retried)
                // Cancelled, it tries at once.
                if number < Self.tries { try? await Task.sleep(for: .milliseconds(100)) }
            }
        }
    }

    /// - Returns: the id of the event; `nil` when it was not added.
    func addTest(for owner: UserID, at now: Instant) async throws -> String? {
        let event = event(.test, at: now) { $0.member("message", "This is a test.") }
        let isAdded = try await queue.add([(event, owner)])
        note(isAdded)
        return isAdded == [true] ? event.id : nil
    }

    private func isSubscribed(_ owner: UserID) async throws -> Bool {
        guard let webhook = try await webhooks.webhook(of: owner) else { return false }
        return webhook.status == .active && webhook.events.contains(.emailReceived)
    }

    private func note(_ added: [Bool]) {
        for isAdded in added { results.add(isAdded ? .queued : .dropped) }
    }

    private func event(
        _ kind: Webhook.EventKind, at now: Instant, _ data: (inout JSONWriter) -> Void
    ) -> WebhookEvent {
        let id = "evt_" + Hex.encode(random(16))
        let body = JSONWriter.object { members in
            members.member("id", id)
            members.member("type", kind.rawValue)
            members.member("created_at", now.rfc3339)
            members.member("data", data)
        }
        return WebhookEvent(id: id, kind: kind, body: body, created: now)
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ mail: ReceivedMail, of account: Account) {
        member("account_id", account.id.text)
        member("address", mail.address)
        member("message_id", mail.messageID)
        member("from", mail.from.cut)
        member("subject", mail.subject.cut)
        member("preview_text", mail.preview.cut)
        if let size = mail.size { member("size", size) } else { null("size") }
    }
}

extension String {
    /// Its beginning, of at most ``ReceivedMail/maximumTextBytes`` bytes.
    fileprivate var cut: String {
        guard utf8.count > ReceivedMail.maximumTextBytes else { return self }
        var kept = ""
        for scalar in unicodeScalars {
            guard kept.utf8.count + UTF8.width(scalar) <= ReceivedMail.maximumTextBytes else {
                break
            }
            kept.unicodeScalars.append(scalar)
        }
        return kept
    }
}
