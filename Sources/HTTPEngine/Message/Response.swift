/// What a handler answers. Content-Length, Date, Connection and X-Request-Id are the engine's:
/// given here they are dropped.
///
/// Names and values are checked byte by byte when the reply is written. One that would split the
/// reply makes it a 500 and a fault record, never bytes on the wire.
public struct Response: Sendable {
    public var status: Status
    public var headers: [(String, String)]
    public var body: [UInt8]

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

    /// The first value of this header, for tests and for code that decorates answers.
    public func header(_ name: String) -> String? {
        headers.first { ASCII.equalIgnoringCase($0.0, name) }?.1
    }
}
