/// A part of a message: an EmailBodyPart of RFC 8621 §4.1.4.
///
/// A message/rfc822 part is a leaf: its content is the message within it.
public struct BodyPart: Sendable {
    /// The part's number as in IMAP (RFC 9051 §6.4.5), e.g. `2.1`; `nil` for a multipart.
    public let partId: String?
    /// Of the decoded content, in bytes; 0 for a multipart.
    public let size: Int
    public let header: HeaderFields
    /// The decoded filename, or name of the Content-Type. Not safe as the name of a file: it may
    /// have slashes.
    public let name: String?
    /// In lower case.
    public let type: String
    /// As the part names it; us-ascii for text without one.
    public let charset: String?
    /// In lower case.
    public let disposition: String?
    /// Without angle brackets.
    public let cid: String?
    public let language: [String]?
    public let location: String?
    /// Of a text with `format=flowed`.
    public let flow: TextFlow?
    /// The parts of a multipart; `nil` for others.
    public let subParts: [BodyPart]?
    /// Where the encoded content is in the message. Empty for a multipart.
    public let contentRange: Range<Int>

    let coding: TransferCoding

    /// Whether other parts are in it.
    public var isMultipart: Bool { subParts != nil }

    /// This part and all within it, in the order of the message.
    public var all: [BodyPart] { [self] + (subParts ?? []).flatMap(\.all) }
}
