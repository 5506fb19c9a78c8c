/// A message as RFC 8621 §4 sees it.
public struct ParsedMessage: Sendable {
    public let bytes: [UInt8]
    /// The whole message as a part: bodyStructure.
    public let root: BodyPart
    /// Whether the message is longer than is read.
    public let isTruncated: Bool
    /// The parts for a client that shows plain text, in order.
    public let textBody: [BodyPart]
    /// The parts for a client that shows HTML, in order.
    public let htmlBody: [BodyPart]
    public let attachments: [BodyPart]

    /// Reads a message. Whatever the bytes are, this gives something to show.
    /// - Throws: only ``MIMEError/libraryMissing(_:)``.
    public init(_ bytes: [UInt8], limits: MIMELimits = .standard) throws(MIMEError) {
        try MIMELibrary.load()
        self.bytes = bytes
        isTruncated = bytes.count > limits.messageBytes
        var scanner = StructureScanner(bytes, limits: limits)
        root = scanner.scan()
        let body = FlattenedBody(root)
        textBody = body.text
        htmlBody = body.html
        attachments = body.attachments
    }

    /// The fields of the message.
    public var header: HeaderFields { root.header }

    /// Whether there is an attachment that is not marked as inline.
    public var hasAttachment: Bool { attachments.contains { $0.disposition != "inline" } }

    /// - Returns: `nil` if there is no such part.
    public func part(_ partId: String) -> BodyPart? { root.all.first { $0.partId == partId } }

    /// The content of a part of this message after its transfer encoding is removed. Empty for a
    /// multipart.
    public func content(of part: BodyPart) -> [UInt8] {
        part.coding.decode(bytes[part.contentRange.clamped(to: bytes.indices)])
    }

    /// The text of a part of this message: RFC 8621's EmailBodyValue, with LF as line breaks.
    public func text(of part: BodyPart) -> DecodedText {
        let content = content(of: part)
        var decoded = DecodedText(content, charset: part.charset)
        if part.coding == .unknown { decoded.isEncodingProblem = true }
        return decoded
    }

    /// The texts of the body and of text attachments, without the markup of HTML.
    /// - Parameter maxBytes: what is read of each at most.
    public func plainTexts(maxBytes: Int = .max) -> [String] {
        root.all.filter { !$0.isMultipart && ASCII.begins($0.type.utf8, with: "text/") }
            .map { plainText(of: $0, maxBytes: maxBytes) }
    }

    /// At most 256 characters of the text, on one line; empty if there is no text.
    public var preview: String {
        for part in textBody + htmlBody where !part.isMultipart {
            guard part.type == "text/html" || part.type == "text/plain" else { continue }
            let preview = Preview.of(plainText(of: part, maxBytes: Preview.textBytes))
            if !preview.isEmpty { return preview }
        }
        return ""
    }

    private func plainText(of part: BodyPart, maxBytes: Int) -> String {
        let text = Preview.beginning(of: text(of: part).text, bytes: maxBytes)
        if part.type == "text/html" { return HTMLText.plain(text) }
        return part.flow?.unfold(text) ?? text
    }
}
