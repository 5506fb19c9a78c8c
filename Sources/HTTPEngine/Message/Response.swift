/// The response of a handler. The engine adds Content-Length, Date, Connection and X-Request-Id
/// itself and drops them here.
///
/// Header names and values are checked when the response is written. An invalid one makes the
/// response a 500 and an error record, so that no value can add a header or split the response.
public struct Response: Sendable {
    public var status: Status
    public var headers: [(String, String)]
    public var body: [UInt8]
    /// More of the body, which is sent piece by piece as it comes (RFC 9112 §7.1). It is cancelled
    /// when the client goes away or the server stops. A client that reads more slowly than
    /// ``ServerConfiguration/outboxBytes`` allows is disconnected, so pieces should be small.
    public var stream: AsyncStream<[UInt8]>?

    public init(status: Status, headers: [(String, String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// `text/plain; charset=utf-8`.
    public static func text(
        _ text: String, status: Status = .ok, headers: [(String, String)] = []
    ) -> Response {
        Response(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
            body: Array(text.utf8))
    }

    /// The first value of this header, for tests and for code that extends responses.
    public func header(_ name: String) -> String? {
        headers.first { ASCII.equalIgnoringCase($0.0, name) }?.1
    }
}

/// A response status code and the reason phrase that goes with it (RFC 9110 §15).
public struct Status: Hashable, Sendable {
    public let code: Int

    /// - Parameter code: 200 to 599; the engine alone sends interim responses.
    public init(code: Int) {
        precondition((200...599).contains(code), "a final status is 200 to 599")
        self.code = code
    }

    public static let ok = Status(code: 200)
    public static let created = Status(code: 201)
    public static let accepted = Status(code: 202)
    public static let noContent = Status(code: 204)
    public static let notModified = Status(code: 304)
    public static let badRequest = Status(code: 400)
    public static let unauthorized = Status(code: 401)
    public static let forbidden = Status(code: 403)
    public static let notFound = Status(code: 404)
    public static let methodNotAllowed = Status(code: 405)
    public static let requestTimeout = Status(code: 408)
    public static let conflict = Status(code: 409)
    public static let contentTooLarge = Status(code: 413)
    public static let uriTooLong = Status(code: 414)
    public static let unsupportedMediaType = Status(code: 415)
    public static let expectationFailed = Status(code: 417)
    public static let misdirectedRequest = Status(code: 421)
    public static let unprocessableContent = Status(code: 422)
    public static let tooManyRequests = Status(code: 429)
    public static let requestHeaderFieldsTooLarge = Status(code: 431)
    public static let internalServerError = Status(code: 500)
    public static let badGateway = Status(code: 502)
    public static let notImplemented = Status(code: 501)
    public static let serviceUnavailable = Status(code: 503)
    public static let httpVersionNotSupported = Status(code: 505)

    /// A response with this status never has content (RFC 9110 §6.4.1).
    var forbidsContent: Bool { self == .noContent || self == .notModified }

    /// The phrase of RFC 9110 §15 and RFC 6585; empty for other codes.
    public var reason: String { Status.reasons[code] ?? "" }

    private static let reasons: [Int: String] = [
        200: "OK", 201: "Created", 202: "Accepted", 204: "No Content",
        301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout",
        409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed",
        413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type",
        417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content",
        426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error",
        501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
        504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
