/// A submission to make (RFC 8621 §7.5).
public struct SubmissionDraft: Hashable, Sendable {
    public var emailID: String
    /// `nil` for the account's only identity.
    public var identityID: String?
    /// `nil` for an envelope from the message's header fields.
    public var envelope: MailEnvelope?

    public init(emailID: String, identityID: String? = nil, envelope: MailEnvelope? = nil) {
        self.emailID = emailID
        self.identityID = identityID
        self.envelope = envelope
    }
}

public enum SubmissionSetError: Error, Hashable, Sendable {
    case notFound
    case invalidProperties([String])
    /// The message has no author.
    case invalidEmail([String])
    case tooManyRecipients(Int)
    case noRecipients
    /// These belong to nobody on a domain of this server, or are no addresses.
    case invalidRecipients([String])
    case forbiddenMailFrom
    /// A test asked for this failure.
    case forbiddenToSend
    /// No memory left for mail.
    case overQuota
    /// Everything was sent at once.
    case cannotUnsend
    /// Accounts cannot be looked up now, or a test asked for this failure. Nothing was sent.
    case serverUnavailable

    /// The type of the SetError of RFC 8621 §7.5. `serverUnavailable` is that of RFC 8620 §3.6.2,
    /// because the other objects of a call may have been made.
    public var type: String {
        switch self {
        case .notFound: "notFound"
        case .invalidProperties: "invalidProperties"
        case .invalidEmail: "invalidEmail"
        case .tooManyRecipients: "tooManyRecipients"
        case .noRecipients: "noRecipients"
        case .invalidRecipients: "invalidRecipients"
        case .forbiddenMailFrom: "forbiddenMailFrom"
        case .forbiddenToSend: "forbiddenToSend"
        case .overQuota: "overQuota"
        case .cannotUnsend: "cannotUnsend"
        case .serverUnavailable: "serverUnavailable"
        }
    }
}
