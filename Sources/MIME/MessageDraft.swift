/// A message that is to be written (RFC 8621 §4.6).
public struct MessageDraft: Sendable {
    /// The fields of the message, in order, without those that describe its content. Message-ID and
    /// Date are added unless they are among them.
    public var fields: [DraftField]
    public var body: DraftPart

    public init(fields: [DraftField], body: DraftPart) {
        self.fields = fields
        self.body = body
    }

    /// The bytes of the message: CRLF, no line longer than 998 bytes.
    /// - Parameters:
    ///   - uniqueId: letters, digits, `.`, `_` or `-`, at most 64; random, so that no other message
    ///     has it and no content has it. It is in the Message-ID and in the boundaries.
    ///   - domain: the right side of the Message-ID.
    public func bytes(
        uniqueId: String, domain: String, date: MessageDate
    ) throws(MIMEError) -> [UInt8] {
        try MIMELibrary.load()
        guard Self.isId(uniqueId), uniqueId.utf8.count <= 64 else {
            throw .invalidValue("uniqueId")
        }
        var fields = self.fields
        if !fields.contains(where: { ASCII.equal($0.name.utf8, "date".utf8) }) {
            fields.append(DraftField("Date", .date(date)))
        }
        if !fields.contains(where: { ASCII.equal($0.name.utf8, "message-id".utf8) }) {
            fields.append(DraftField("Message-ID", .messageIds(["\(uniqueId)@\(domain)"])))
        }
        var writer = HeaderWriter()
        for field in fields {
            guard !Self.isOwn(field.name) else { throw .invalidFieldName(field.name) }
            try writer.write(field)
        }
        try writer.write(DraftField("MIME-Version", .raw("1.0")))
        var parts = PartWriter(uniqueId: uniqueId)
        return writer.bytes + (try parts.write(body, depth: 0))
    }

    /// Whether the module writes the field itself.
    private static func isOwn(_ name: String) -> Bool {
        ASCII.begins(name.utf8, with: "content-")
            || ASCII.equal(name.utf8, "mime-version".utf8)
    }

    private static func isId(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                ASCII.lowered($0) &- 0x61 < 26 || $0 &- 0x30 < 10 || "._-".utf8.contains($0)
            }
    }
}

/// A part of a message that is to be written.
public struct DraftPart: Sendable {
    public enum Content: Sendable {
        /// Written as UTF-8. Any line breaks become CRLF.
        case text(String)
        /// A decoded content that is kept byte by byte, except the line breaks of a message/rfc822.
        case bytes([UInt8])
        /// Of a multipart, at least one.
        case parts([DraftPart])
    }

    /// E.g. `text/plain`. A multipart has parts, and others have none.
    public var type: String
    public var content: Content
    /// Of a content in bytes; a text is utf-8.
    public var charset: String?
    /// `inline`, `attachment` or another.
    public var disposition: String?
    public var name: String?
    /// Without angle brackets.
    public var cid: String?
    public var language: [String]?
    public var location: String?
    /// Other fields.
    public var fields: [DraftField] = []

    public init(
        type: String, content: Content, disposition: String? = nil, name: String? = nil,
        cid: String? = nil
    ) {
        self.type = type
        self.content = content
        self.disposition = disposition
        self.name = name
        self.cid = cid
    }

    /// The usual structure: the text, the HTML beside it as an alternative, what the HTML shows
    /// related to it, and the attachments after all that.
    public static func message(
        text: String?, html: String? = nil, inline: [DraftPart] = [], attachments: [DraftPart] = []
    ) -> DraftPart {
        let plain = text.map { DraftPart(type: "text/plain", content: .text($0)) }
        var body = plain ?? DraftPart(type: "text/plain", content: .text(""))
        if let html {
            let shown = multipart(
                "related", [DraftPart(type: "text/html", content: .text(html))] + inline)
            body = multipart("alternative", (plain.map { [$0] } ?? []) + [shown])
        }
        return multipart("mixed", [body] + (html == nil ? inline : []) + attachments)
    }

    /// Puts parts together. One part stays alone.
    public static func multipart(_ subtype: String, _ parts: [DraftPart]) -> DraftPart {
        parts.count == 1
            ? parts[0] : DraftPart(type: "multipart/\(subtype)", content: .parts(parts))
    }
}
