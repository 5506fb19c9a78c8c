public import AuthCore
internal import Cryptography
public import LocalMail
internal import MIME

/// The mail of a test suite: delivers messages without SMTP, and reads what was delivered or
/// captured for whichever recipient.
///
/// Its callers see the mail of everybody, so the program makes one in the test profile only.
public struct TestMail: Sendable {
    /// The largest number of messages in one call of ``deliver(_:)``, and of recipients and
    /// attachments of a message.
    public static let maximumCount = 100
    /// The author of a message that names none.
    public static let sender = "sender@example.com"
    /// A page ends after the message with which its texts exceed this, so that an answer has a
    /// limit.
    private static let pageBytes = 8 << 20

    private let mail: LocalMail
    private let clock: ServerClock

    public init(_ mail: LocalMail, clock: ServerClock) {
        self.mail = mail
        self.clock = clock
    }

    /// The failure that deliveries have now.
    public var fault: DeliveryFault? {
        get { mail.fault }
        nonmutating set { mail.fault = newValue }
    }

    /// Empties the list of messages. Accounts keep their mail.
    public func clear() { mail.clearDelivered() }

    /// Removes all mail, and the fault.
    public func reset() { mail.reset() }

    // MARK: What has arrived

    /// Which messages are wanted. `nil` takes all.
    public struct Filter: Sendable {
        /// An address that received the message, in any case of letters.
        let recipient: String?
        /// The address of an author, or the one that SMTP's MAIL named, in any case of letters.
        let sender: String?
        /// A part of the subject, in any case of letters.
        let subject: String?

        public init(recipient: String? = nil, sender: String? = nil, subject: String? = nil) {
            self.recipient = recipient?.lowercased()
            self.sender = sender?.lowercased()
            self.subject = subject?.lowercased()
        }

        func matches(_ message: DeliveredMessage) -> Bool {
            let summary = message.content.summary
            if let recipient,
                !message.results.contains(where: { $0.recipient.lowercased() == recipient })
            {
                return false
            }
            if let sender, message.mailFrom.lowercased() != sender,
                !summary.from.contains(where: { $0.email.lowercased() == sender })
            {
                return false
            }
            guard let subject else { return true }
            return (summary.subject ?? "").lowercased().contains(subject)
        }
    }

    /// Returns messages in the order of their arrival, as soon as there is one that matches.
    ///
    /// - Parameters:
    ///   - number: that of the message after which the first one is.
    ///   - limit: how many are returned at most. Large ones are fewer.
    ///   - deadline: when none is returned; `nil` for at once.
    public func messages(
        _ filter: Filter = Filter(), after number: Int = 0, limit: Int = .max,
        until deadline: ContinuousClock.Instant? = nil
    ) async throws(TestMailError) -> [TestMessage] {
        let found: [DeliveredMessage]
        if let deadline {
            found = await mail.delivered(after: number, until: deadline, where: filter.matches)
        } else {
            found = mail.delivered(after: number).filter(filter.matches)
        }
        return try await read(found.prefix(limit))
    }

    /// - Returns: `nil` where there is no message of this number.
    public func source(ofMessage number: Int) -> [UInt8]? {
        guard number > 0, let first = mail.delivered(after: number - 1).first,
            first.number == number
        else { return nil }
        return first.content.bytes
    }

    /// Runs elsewhere, because many messages take long to read.
    @concurrent
    private func read(
        _ messages: ArraySlice<DeliveredMessage>
    ) async throws(TestMailError) -> [TestMessage] {
        var read: [TestMessage] = []
        var bytes = 0
        for message in messages where bytes < Self.pageBytes {
            do throws(MIMEError) {
                read.append(try TestMessage(message))
            } catch {
                throw .failed(error)
            }
            bytes += read.last?.textBytes ?? 0
        }
        return read
    }

    // MARK: Delivery

    /// A message to deliver.
    public struct Draft: Sendable {
        public enum Content: Sendable {
            /// With an author, a subject and texts of its own.
            case composed(
                from: String?, subject: String?, text: String?, html: String?,
                attachments: [Attachment])
            /// A whole message. Lines that end with LF alone get CRLF.
            case source([UInt8])
        }

        public let recipients: [String]
        public let content: Content

        public init(to recipients: [String], _ content: Content) {
            self.recipients = recipients
            self.content = content
        }
    }

    public struct Attachment: Sendable {
        public let filename: String
        /// E.g. `image/png`.
        public let type: String
        public let content: [UInt8]

        public init(filename: String, type: String, content: [UInt8]) {
            self.filename = filename
            self.type = type
            self.content = content
        }
    }

    /// Delivers messages one after the other, if all of their recipients are known.
    ///
    /// - Returns: for each the ids of the message in the inboxes of its recipients, in their order;
    ///   `nil` for a recipient elsewhere.
    public func deliver(_ drafts: [Draft]) async throws(TestMailError) -> [[String?]] {
        if let fault { throw .fault(fault) }
        for draft in drafts where !(1...Self.maximumCount).contains(draft.recipients.count) {
            throw .invalid("A message must have 1 to \(Self.maximumCount) recipients.")
        }
        var unknown: [String] = []
        for recipient in drafts.flatMap(\.recipients) {
            switch await mail.owner(ofRecipient: recipient) {
            case .failure(.temporary): throw .unavailable
            case .failure(.unknownRecipient): unknown.append(recipient)
            default: if !LocalMail.isAddress(recipient) { unknown.append(recipient) }
            }
        }
        guard unknown.isEmpty else { throw .unknownRecipients(unknown) }
        var sources: [[UInt8]] = []
        for draft in drafts { sources.append(try await source(of: draft)) }
        var ids: [[String?]] = []
        for (draft, source) in zip(drafts, sources) {
            let results = await mail.deliver(
                source, from: Self.mailFrom(draft), to: draft.recipients)
            ids.append(try Self.ids(results))
        }
        return ids
    }

    private static func mailFrom(_ draft: Draft) -> String {
        if case .composed(let from?, _, _, _, _) = draft.content { from } else { sender }
    }

    private static func ids(_ results: [DeliveryResult]) throws(TestMailError) -> [String?] {
        var ids: [String?] = []
        for result in results {
            switch result.outcome {
            case .delivered(_, let message): ids.append(message)
            case .captured: ids.append(nil)
            case .failed(let failure): throw TestMailError(failure, to: result.recipient)
            }
        }
        return ids
    }

    @concurrent
    private func source(of draft: Draft) async throws(TestMailError) -> [UInt8] {
        guard
            case .composed(let author, let subject, let text, let html, let files) = draft.content
        else {
            if case .source(let bytes) = draft.content { return Self.withCRLF(bytes) }
            return []
        }
        let from = author ?? Self.sender
        guard let at = from.utf8.lastIndex(of: UInt8(ascii: "@")),
            let date = MessageDate(seconds: clock.now().seconds)
        else { throw .invalid("`from` must be an address.") }
        var fields = [
            DraftField("From", .addresses([EmailAddress(email: from)])),
            DraftField("To", .addresses(draft.recipients.map { EmailAddress(email: $0) })),
        ]
        if let subject { fields.append(DraftField("Subject", .text(subject))) }
        let attachments = files.map { file in
            DraftPart(
                type: file.type, content: .bytes(file.content), disposition: "attachment",
                name: file.filename)
        }
        let message = MessageDraft(
            fields: fields,
            body: .message(text: text, html: html, attachments: attachments))
        do throws(MIMEError) {
            return try message.bytes(
                uniqueId: Hex.encode(RandomBytes.make(16)),
                domain: String(from[from.utf8.index(after: at)...]), date: date)
        } catch {
            if case .libraryMissing = error { throw .failed(error) }
            throw .invalid("The message cannot be written: \(error).")
        }
    }

    private static func withCRLF(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte == 0x0A, result.last != 0x0D { result.append(0x0D) }
            result.append(byte)
        }
        return result
    }
}

/// Why a test suite cannot deliver or read messages.
public enum TestMailError: Error, Sendable {
    /// Nothing was delivered.
    case unknownRecipients([String])
    /// A message cannot be written as it was described. The text says why.
    case invalid(String)
    /// The suite has asked for this failure.
    case fault(DeliveryFault)
    case mailboxFull(String)
    case messageTooLarge
    /// There is no memory left for mail.
    case systemFull
    /// An account could not be looked up now.
    case unavailable
    case failed(any Error)

    init(_ failure: DeliveryFailure, to recipient: String) {
        switch failure {
        // The account was deleted meanwhile.
        case .unknownRecipient: self = .unknownRecipients([recipient])
        case .mailboxFull: self = .mailboxFull(recipient)
        case .messageTooLarge: self = .messageTooLarge
        case .systemFull: self = .systemFull
        case .messageRejected: self = .fault(.message)
        case .temporary: self = .unavailable
        }
    }
}

extension TestMailError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownRecipients(let recipients):
            "There is no mailbox for \(recipients.joined(separator: ", "))."
        case .invalid(let explanation): explanation
        case .fault(let fault):
            "Mail fails, because the suite has set the fault `\(fault.rawValue)`."
        case .mailboxFull(let recipient): "The mailbox of \(recipient) is full."
        case .messageTooLarge: "The message is too large."
        case .systemFull: "There is no memory left for mail (`mail.local_limit`)."
        case .unavailable: "The accounts cannot be looked up now."
        case .failed(let cause): "\(cause)"
        }
    }
}
