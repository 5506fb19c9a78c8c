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
        /// By which the HTML of the message refers to it, in a `cid:` URL (RFC 2392).
        let contentID: String?
    }

    let text: String?
    let html: String?
    let attachments: [Attachment]
    private let message: ParsedMessage
    private let parts: [BodyPart]

    /// - Throws: only when GMime cannot be loaded.
    init(_ source: [UInt8]) throws(MIMEError) {
        let message = try ParsedMessage(source)
        self.message = message
        text = Self.joined(message.textBody, of: "text/plain", in: message)
        html = Self.joined(message.htmlBody, of: "text/html", in: message)
        parts = Self.parts(of: message)
        attachments = parts.enumerated().map { index, part in
            Attachment(
                filename: SafeFilename.make(part.name, fallback: "attachment-\(index)"),
                type: MediaType.name(part.type) ?? MediaType.unknown, size: part.size,
                contentID: part.cid)
        }
    }

    /// - Returns: `nil` where there is no such attachment.
    func content(ofAttachment index: Int) -> [UInt8]? {
        guard parts.indices.contains(index) else { return nil }
        return message.content(of: parts[index])
    }

    /// The attachments, and the images and sounds between the texts: RFC 8621 §4.1.4 has these in
    /// the lists of what is shown alone, and the texts here cannot show them.
    private static func parts(of message: ParsedMessage) -> [BodyPart] {
        var known = Set(message.attachments.map(\.partId))
        return message.attachments
            + (message.htmlBody + message.textBody).filter { part in
                !part.type.utf8.starts(with: "text/".utf8) && known.insert(part.partId).inserted
            }
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
                    members.member("content_id", attachment.contentID)
                }
            }
        }
    }
}
