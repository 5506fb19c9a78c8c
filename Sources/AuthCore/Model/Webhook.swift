public typealias WebhookID = Identifier<Webhook>

/// A URL to which a user's events are sent.
public struct Webhook: Equatable, Sendable {
    /// The kinds of events that a user can subscribe to.
    public enum EventKind: String, CaseIterable, Sendable {
        /// A message was delivered to an account of the user.
        case emailReceived = "email.received"
        /// The user has asked for it, to try the receiver. Always sent.
        case test = "webhook.test"

        /// Those that a webhook names.
        public static let subscribed: [EventKind] = [.emailReceived]
    }

    public enum Status: String, Sendable {
        case active
        /// Nothing is sent, because too many events in a row were not accepted.
        case disabled
    }

    /// The times between the attempts to send an event. After the last one the event has failed.
    public static let retries: [Duration] = [
        .seconds(1), .seconds(5), .seconds(30), .seconds(300), .seconds(3600),
    ]
    /// A webhook is disabled when that many events in a row have failed.
    public static let failureLimit: Int64 = 20
    /// The events of a webhook that may wait. Further ones are dropped.
    public static let queueLimit = 1000
    /// The attempts of a webhook that are kept.
    public static let attemptsKept = 20

    public let id: WebhookID
    public let owner: UserID
    public let url: String
    public let events: Set<EventKind>
    /// The secret that events are signed with, encrypted.
    public let sealedSecret: [UInt8]
    public let status: Status
    /// Events in a row that have failed.
    public let failures: Int64
    /// The time of the last attempt.
    public let lastTriggered: Instant?
    public let created: Instant

    public init(
        id: WebhookID, owner: UserID, url: String, events: Set<EventKind>, sealedSecret: [UInt8],
        status: Status = .active, failures: Int64 = 0, lastTriggered: Instant? = nil,
        created: Instant
    ) {
        self.id = id
        self.owner = owner
        self.url = url
        self.events = events
        self.sealedSecret = sealedSecret
        self.status = status
        self.failures = failures
        self.lastTriggered = lastTriggered
        self.created = created
    }
}

/// An event that waits to be sent to a webhook.
public struct WebhookEvent: Equatable, Sendable {
    /// `evt_` and 32 hex digits; the same at each attempt.
    public let id: String
    public let kind: Webhook.EventKind
    /// The JSON text that is sent.
    public let body: [UInt8]
    public let created: Instant

    public init(id: String, kind: Webhook.EventKind, body: [UInt8], created: Instant) {
        self.id = id
        self.kind = kind
        self.body = body
        self.created = created
    }
}

/// An event that was taken to be sent, and where to.
public struct PendingWebhookEvent: Equatable, Sendable {
    public let number: Int64
    public let event: WebhookEvent
    /// How often it was taken.
    public let attempts: Int64
    public let webhook: WebhookID
    public let owner: UserID
    public let url: String
    public let sealedSecret: [UInt8]
    /// Whether the last attempt of the webhook was slow.
    public let isSlow: Bool

    public init(
        number: Int64, event: WebhookEvent, attempts: Int64, webhook: WebhookID, owner: UserID,
        url: String, sealedSecret: [UInt8], isSlow: Bool
    ) {
        self.number = number
        self.event = event
        self.attempts = attempts
        self.webhook = webhook
        self.owner = owner
        self.url = url
        self.sealedSecret = sealedSecret
        self.isSlow = isSlow
    }
}

/// One attempt to send an event.
public struct WebhookAttempt: Equatable, Sendable {
    public let id: Identifier<WebhookAttempt>
    public let eventID: String
    public let kind: Webhook.EventKind
    /// Of the response; `nil` without one.
    public let status: Int64?
    /// Why the event was not accepted; `nil` when it was.
    public let error: String?
    /// 1 for the first attempt of the event.
    public let number: Int64
    public let milliseconds: Int64
    public let time: Instant

    public init(
        id: Identifier<WebhookAttempt>, eventID: String, kind: Webhook.EventKind, status: Int64?,
        error: String?, number: Int64, milliseconds: Int64, time: Instant
    ) {
        self.id = id
        self.eventID = eventID
        self.kind = kind
        self.status = status
        self.error = error
        self.number = number
        self.milliseconds = milliseconds
        self.time = time
    }

    public var isAccepted: Bool { error == nil }

    public static let slowMilliseconds: Int64 = 1000
    /// So many attempts in a row must be quick before the receiver counts as quick again. It could
    /// otherwise hold connections with every second attempt.
    public static let quickCount = 20

    /// Whether it was not accepted or took long. Webhooks with a slow receiver must leave
    /// connections for the others.
    public var isSlow: Bool { !isAccepted || milliseconds >= Self.slowMilliseconds }
}
