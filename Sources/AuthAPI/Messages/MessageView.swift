internal import AuthCore
internal import HTTPEngine
internal import LocalMail
internal import MIME
internal import StrictJSON

/// A message as the accounts API shows it: its texts, and its attachments by their index.
struct MessageView: Sendable {
    struct Attachment: Sendable {
        let filename: String
        let type: String
        let size: Int
    }

    let text: String?
    let html: String?
    let attachments: [Attachment]
    private let message: ParsedMessage

    /// - Throws: only when GMime cannot be loaded.
    init(_ source: [UInt8]) throws(MIMEError) {
        let message = try ParsedMessage(source)
        self.message = message
        text = Self.joined(message.textBody, of: "text/plain", in: message)
        html = Self.joined(message.htmlBody, of: "text/html", in: message)
        attachments = message.attachments.enumerated().map { index, part in
            Attachment(
                filename: SafeFilename.make(part.name, fallback: "attachment-\(index)"),
                type: MediaType.name(part.type) ?? MediaType.unknown, size: part.size)
        }
    }

    /// - Returns: `nil` where there is no such attachment.
    func content(ofAttachment index: Int) -> [UInt8]? {
        guard message.attachments.indices.contains(index) else { return nil }
        return message.content(of: message.attachments[index])
    }

    /// The texts of all parts of the type; `nil` where there is none.
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

extension JSONWriter {
    /// The members that a message has in a list, too.
    mutating func write(_ message: MessageListing) {
        member("id", message.id)
        member("sender", message.sender)
        member("from", message.from)
        member("subject", message.subject)
        member("preview_text", message.preview)
        member("size", message.size)
        member("is_read", message.isRead)
        let milliseconds = message.receivedAt.milliseconds
        // Rounded down, before 1970 as well.
        let seconds = (milliseconds - (milliseconds % 1000 + 1000) % 1000) / 1000
        member("created_at", Instant(seconds: seconds).rfc3339)
    }

    mutating func write(_ message: MessageView) {
        member("text_body", message.text)
        member("html_body", message.html)
        array("attachments") { list in
            for (index, attachment) in message.attachments.enumerated() {
                list.element { members in
                    members.member("index", index)
                    members.member("filename", attachment.filename)
                    members.member("content_type", attachment.type)
                    members.member("size", attachment.size)
                }
            }
        }
    }
}
