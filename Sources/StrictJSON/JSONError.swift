/// Why a text is not JSON, and where.
///
/// The cause is a short sentence for the client that sent the text. It contains nothing of the text
/// itself, so it can be logged and sent without escaping.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The sentence for the client, by kind of error.
    public enum Cause: String, Sendable {
        case empty = "the text is empty"
        case byteOrderMark = "a byte order mark is not allowed"
        case unexpectedByte = "a JSON value was expected"
        case unexpectedEnd = "the text ends too early"
        case trailingBytes = "something follows the JSON value"
        case invalidNumber = "a number is not written as JSON writes numbers"
        case numberOutOfRange = "a number is too large"
        case controlCharacter = "a control character in a string must be escaped"
        case invalidEscape = "an escape sequence is not valid"
        case loneSurrogate = "an escaped surrogate has no partner"
        case invalidUTF8 = "the text is not valid UTF-8"
        case tooManyMarks = "a string has more than 30 combining marks in a row"
        case expectedName = "a member name in double quotes was expected"
        case expectedColon = "a colon was expected after a member name"
        case expectedCommaOrEnd = "a comma or the closing bracket was expected"
        case duplicateName = "a member name occurs twice in one object"
        case tooDeep = "the nesting is deeper than 32"
    }

    /// The number of bytes before the wrong one.
    public let offset: Int
    public let cause: Cause

    public init(offset: Int, cause: Cause) {
        self.offset = offset
        self.cause = cause
    }

    public var description: String { "\(cause.rawValue) (at byte \(offset))" }
}
