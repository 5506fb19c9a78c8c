/// The texts of a message, and its attachments by their index.
public struct MessageBody: Hashable, Sendable {
    /// The texts of all parts of the type; `nil` where there is none.
    public let text: String?
    public let html: String?
    /// The attachments, and the images and sounds between the texts: RFC 8621 §4.1.4 has these in
    /// the lists of what is shown alone, and the texts here cannot show them.
    public let attachments: [MessageAttachment]

    public init(text: String?, html: String?, attachments: [MessageAttachment]) {
        self.text = text
        self.html = html
        self.attachments = attachments
    }
}

/// An attachment as its message names it: neither name nor type is checked.
public struct MessageAttachment: Hashable, Sendable {
    public let name: String?
    /// A media type in lower case.
    public let type: String
    /// Bytes of the decoded content.
    public let size: Int
    /// By which the HTML of the message refers to it, in a `cid:` URL (RFC 2392).
    public let contentID: String?

    public init(name: String?, type: String, size: Int, contentID: String?) {
        self.name = name
        self.type = type
        self.size = size
        self.contentID = contentID
    }
}
