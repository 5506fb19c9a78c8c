public import LocalMail
public import MIME

/// Reads messages for ``LocalMail`` by the module MIME.
public struct MIMEReader: MessageReader {
    private let report: @Sendable (MIMEError) -> Void

    /// GMime is loaded at the first message. Without it a message has no subject, no addresses and
    /// no text.
    ///
    /// - Parameter report: called for each message that is read without GMime.
    public init(report: @escaping @Sendable (MIMEError) -> Void = { _ in }) {
        self.report = report
    }

    public func summary(of message: [UInt8]) -> MessageSummary {
        guard let message = parsed(message) else { return MessageSummary() }
        return MessageSummary(message)
    }

    public func bodyText(of message: [UInt8]) -> String {
        parsed(message)?.plainTexts().joined(separator: "\n") ?? ""
    }

    public func headerValues(named name: String, in message: [UInt8]) -> [String] {
        do throws(MIMEError) {
            return try HeaderFields(of: message).all(name).map(\.text)
        } catch {
            return []
        }
    }

    /// - Returns: `nil` only without GMime.
    private func parsed(_ message: [UInt8]) -> ParsedMessage? {
        do throws(MIMEError) {
            return try ParsedMessage(message)
        } catch {
            report(error)
            return nil
        }
    }
}

extension MessageSummary {
    init(_ message: ParsedMessage) {
        self.init()
        let header = message.header
        messageIDs = header.messageId ?? []
        inReplyTo = header.inReplyTo ?? []
        references = header.references ?? []
        sender = Self.addresses(header.sender)
        from = Self.addresses(header.from)
        to = Self.addresses(header.to)
        cc = Self.addresses(header.cc)
        bcc = Self.addresses(header.bcc)
        subject = header.subject
        sentAt = header.sentAt.map { MailInstant(milliseconds: $0.seconds * 1000) }
        hasAttachment = message.hasAttachment
        preview = message.preview
    }

    private static func addresses(_ list: [EmailAddress]?) -> [MailAddress] {
        (list ?? []).map { MailAddress(name: $0.name, email: $0.email) }
    }
}
