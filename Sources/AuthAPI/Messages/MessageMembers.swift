internal import AuthCore
internal import LocalMail
internal import StrictJSON

extension MessageAttachment {
    /// The name under which it is saved.
    /// - Parameter index: names an attachment without a name.
    func filename(at index: Int) -> String {
        SafeFilename.make(name, fallback: "attachment-\(index)")
    }

    /// The media type, if it is one.
    var mediaType: String { MediaType.name(type) ?? MediaType.unknown }
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

    mutating func write(_ body: MessageBody) {
        member("text_body", body.text)
        member("html_body", body.html)
        array("attachments") { list in
            for (index, attachment) in body.attachments.enumerated() {
                list.element { members in
                    members.member("index", index)
                    members.member("filename", attachment.filename(at: index))
                    members.member("content_type", attachment.mediaType)
                    members.member("size", attachment.size)
                    members.member("content_id", attachment.contentID)
                }
            }
        }
    }
}
