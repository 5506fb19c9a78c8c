// MIME: Internet messages (RFC 5322, RFC 2045 to 2049) to structure and back.
//
// Owns: the fields of a message and their parsed forms, the tree of its parts and what RFC 8621
// derives from them, the text of a part, and the bytes of a message that is written. The walk over
// the boundaries is its own, so that depth, parts and time are bounded; encoded words, parameters,
// addresses, dates and transfer encodings are GMime's, a library that is loaded when it is first
// used. A message that breaks the rules is still shown. Never knows an account, a request or a
// store, has no clock and no random numbers, and does not trap on any input.

internal import CGMime

/// Why a message cannot be read or written.
public enum MIMEError: Error, Equatable, Sendable {
    /// GMime cannot be loaded; with the loader's message.
    case libraryMissing(String)
    /// The name of a field of a draft is empty or has a character that is not allowed, or it is a
    /// field that the module itself writes.
    case invalidFieldName(String)
    /// The value of the named field or property has a CR, LF, NUL or other control character, or
    /// it is not one that can be written.
    case invalidValue(String)
    /// The value of the named field has a word that is longer than a line may be.
    case lineTooLong(String)
    /// The draft's parts are more, or deeper, than ``MIMELimits`` allows.
    case tooManyParts
}

extension MIMEError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .libraryMissing(let cause):
            "GMime cannot be loaded (Debian: libgmime-3.0-0): \(cause)"
        case .invalidFieldName(let name): "not the name of a header field: \(name)"
        case .invalidValue(let name): "\(name) has an invalid value"
        case .lineTooLong(let name): "\(name) has a word longer than a line"
        case .tooManyParts: "the message has too many parts"
        }
    }
}

/// What is read of one message. What is beyond a limit is not shown, or is shown undivided.
public struct MIMELimits: Sendable {
    /// What follows is not read: ``ParsedMessage/isTruncated``.
    public var messageBytes = 10_485_760
    /// Multiparts within each other. A deeper one is one opaque part.
    public var depth = 64
    /// Parts, multiparts among them. The last one has all that follows, undivided.
    public var parts = 1_000
    /// Of the header of one part. The fields that follow are not read.
    public var headerBytes = 262_144
    /// In the header of one part. The fields that follow are not read.
    public var fields = 1_000
    /// Addresses, message ids, URLs or languages in one field. Those that follow are not read.
    public var listItems = 1_000
    /// Of a field that describes the content, such as Content-Type. A longer one counts as absent.
    public var contentFieldBytes = 16_384

    public static let standard = MIMELimits()

    public init() {}
}

/// GMime, loaded once per process.
enum MIMELibrary {
    private static let fault = postern_gmime_load().map { String(cString: $0) }

    /// Loads GMime unless it is loaded. All that needs it calls this first.
    static func load() throws(MIMEError) {
        if let fault { throw .libraryMissing(fault) }
    }
}

/// The text that a function of CGMime returned, freed.
func taken(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { postern_gmime_free(text) }
    return String(cString: text)
}
