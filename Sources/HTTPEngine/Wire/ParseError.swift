/// Why a request is not valid HTTP/1.1 or is beyond a limit of the parser. The connection is closed
/// after the response, because it is not known where the next request begins.
public enum ParseError: Error, Hashable, Sendable {
    case badRequestLine
    case badTarget
    case badVersion
    case badLineEnd
    case badFieldLine
    case badFieldName
    case badFieldValue
    case foldedField
    case badHost
    case badContentLength
    case badTransferEncoding
    case badChunk
    case badTrailer
    case truncated
    case notEncrypted
    case requestLineTooLong
    case headTooLarge
    case tooManyFields
    case unknownTransferCoding
    case unsupportedMethod
    case unsupportedVersion
    case unknownExpectation

    public var status: Status {
        switch self {
        case .requestLineTooLong: return .uriTooLong
        case .headTooLarge, .tooManyFields: return .requestHeaderFieldsTooLarge
        case .unknownTransferCoding, .unsupportedMethod: return .notImplemented
        case .unsupportedVersion: return .httpVersionNotSupported
        case .unknownExpectation: return .expectationFailed
        case .badRequestLine, .badTarget, .badVersion, .badLineEnd, .badFieldLine, .badFieldName,
            .badFieldValue, .foldedField, .badHost, .badContentLength, .badTransferEncoding,
            .badChunk, .badTrailer, .truncated, .notEncrypted:
            return .badRequest
        }
    }

    /// One sentence for the developer of the client.
    public var explanation: String {
        switch self {
        case .badRequestLine: return "The request line is not METHOD SP target SP HTTP/1.1."
        case .badTarget: return "The request target is not a valid path, URL or *."
        case .badVersion: return "The request line does not end in an HTTP version."
        case .badLineEnd: return "A line of the head does not end in CR LF."
        case .badFieldLine: return "A header line has no colon, or there is white space before it."
        case .badFieldName: return "A header name is empty or has a character that is not allowed."
        case .badFieldValue: return "A header value has a control character."
        case .foldedField: return "A header value continues on a second line."
        case .badHost: return "There must be exactly one Host header, with a valid host."
        case .badContentLength: return "Content-Length is not one decimal number."
        case .badTransferEncoding:
            return "Transfer-Encoding must be chunked, once, and without Content-Length."
        case .badChunk: return "The chunked body has a malformed chunk."
        case .badTrailer: return "The trailers of the chunked body are malformed or too large."
        case .truncated: return "The connection was closed in the middle of the request."
        case .notEncrypted: return "This port takes TLS only: use https in the URL."
        case .requestLineTooLong: return "The request line is too long."
        case .headTooLarge: return "The head of the request is too large."
        case .tooManyFields: return "The request has too many headers."
        case .unknownTransferCoding: return "The only supported transfer coding is chunked."
        case .unsupportedMethod: return "CONNECT is not supported: this server is not a proxy."
        case .unsupportedVersion: return "Only HTTP/1.1 and HTTP/1.0 are supported."
        case .unknownExpectation: return "The only supported expectation is 100-continue."
        }
    }
}
