/// What became of one recipient's message.
public enum DeliveryOutcome: Hashable, Sendable {
    /// The id of the message in that account's inbox.
    case delivered(MailAccount, message: String)
    /// The address is another server's. The message was kept, and nothing left the machine.
    case captured
    case failed(DeliveryFailure)

    public var isAccepted: Bool {
        switch self {
        case .delivered, .captured: true
        case .failed: false
        }
    }
}

public enum DeliveryFailure: Error, Hashable, Sendable {
    case unknownRecipient
    case mailboxFull
    case messageTooLarge
    /// There is no memory left for mail.
    case systemFull
    /// A test asked for this failure.
    case messageRejected
    case temporary
}

public struct DeliveryResult: Hashable, Sendable {
    public let recipient: String
    public let outcome: DeliveryOutcome
}

/// A message that was delivered or captured. All recipients of a message are in one entry.
public struct DeliveredMessage: Sendable {
    /// From 1, in the order of arrival, never given out again.
    public let number: Int
    public let mailFrom: String
    /// Those that were accepted.
    public let results: [DeliveryResult]
    public let arrivedAt: MailInstant
    public let content: MailContent
}

/// A failure that a test asks for.
public enum DeliveryFault: String, CaseIterable, Sendable {
    /// No recipient is known.
    case recipient = "rcpt"
    /// The message is rejected.
    case message = "data"
    /// Nothing works for now.
    case temporary = "temp"
}
