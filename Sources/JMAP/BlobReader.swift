public import LocalMail
internal import MIME

/// Finds the bytes of an account's blobs: uploads, messages, and parts of messages.
///
/// The id of a part is the id of the message and the part's place in it, from 1, with `-` between:
/// `B1f-3`. A part that is a message has parts as well: `B1f-3-2`. The message that was read last
/// is kept, because clients ask for several parts of one message.
public struct BlobReader {
    /// Messages within messages.
    static let maxDepth = 8

    private let mail: AccountMail
    private var last: (id: String, message: ParsedMessage)?
    /// The bytes of all messages that were read for their parts.
    private(set) var parsedBytes = 0

    public init(_ mail: AccountMail) {
        self.mail = mail
    }

    /// - Returns: `nil` where the account has no such blob. The type of a part is what the message
    ///   says.
    public mutating func blob(_ id: String) -> MailBlob? {
        let steps = id.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard let first = steps.first, steps.count <= Self.maxDepth + 1 else { return nil }
        guard var blob = mail.blob(String(Substring(first))) else { return nil }
        for step in steps.dropFirst() {
            guard let place = Self.place(step), let part = part(place, of: blob) else { return nil }
            blob = part
        }
        return blob
    }

    /// - Parameter place: the part's index in ``BodyPart/all`` and 1.
    static func id(ofPart place: Int, in blobID: String) -> String { "\(blobID)-\(place)" }

    private mutating func part(_ place: Int, of blob: MailBlob) -> MailBlob? {
        guard let message = message(blob) else { return nil }
        let parts = message.root.all
        guard parts.indices.contains(place - 1), !parts[place - 1].isMultipart else { return nil }
        let part = parts[place - 1]
        return MailBlob(
            id: Self.id(ofPart: place, in: blob.id), type: part.type,
            bytes: message.content(of: part))
    }

    private mutating func message(_ blob: MailBlob) -> ParsedMessage? {
        if let last, last.id == blob.id { return last.message }
        do throws(MIMEError) {
            let message = try ParsedMessage(blob.bytes)
            parsedBytes += blob.bytes.count
            last = (blob.id, message)
            return message
        } catch {
            // Without GMime no message has parts.
            return nil
        }
    }

    /// A number without a zero before it, so that a blob has one id.
    private static func place(_ text: Substring.UTF8View) -> Int? {
        guard (1...6).contains(text.count), text.first != UInt8(ascii: "0"),
            text.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
}
