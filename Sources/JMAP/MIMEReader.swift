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

    public func body(of message: [UInt8]) throws(MIMEError) -> MessageBody {
        MessageBody(try ParsedMessage(message))
    }

    public func attachment(
        _ index: Int, of message: [UInt8]
    ) throws(MIMEError) -> (attachment: MessageAttachment, content: [UInt8])? {
        let message = try ParsedMessage(message)
        let parts = MessageBody.attachedParts(of: message)
        guard parts.indices.contains(index) else { return nil }
        let part = parts[index]
        return (MessageAttachment(part), message.content(of: part))
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

extension MessageBody {
    fileprivate init(_ message: ParsedMessage) {
        self.init(
            text: Self.joined(message.textBody, of: "text/plain", in: message),
            html: Self.joined(message.htmlBody, of: "text/html", in: message),
            attachments: Self.attachedParts(of: message).map(MessageAttachment.init))
    }

    fileprivate static func attachedParts(of message: ParsedMessage) -> [BodyPart] {
        var known = Set(message.attachments.map(\.partId))
        return message.attachments
            + (message.htmlBody + message.textBody).filter { part in
                !part.type.utf8.starts(with: "text/".utf8) && known.insert(part.partId).inserted
            }
    }

    private static func joined(
        _ parts: [BodyPart], of type: String, in message: ParsedMessage
    ) -> String? {
        let texts = parts.filter { $0.type == type }.map { part in
            let text = message.text(of: part).text
            return part.flow?.unfold(text) ?? text
        }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }
}

extension MessageAttachment {
    fileprivate init(_ part: BodyPart) {
        self.init(name: part.name, type: part.type, size: part.size, contentID: part.cid)
    }
}
