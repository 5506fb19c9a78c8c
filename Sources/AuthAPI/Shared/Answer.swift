internal import HTTPEngine
internal import StrictJSON

extension Response {
    /// A JSON answer that nobody may cache.
    static func json(
        _ status: Status, headers: [(String, String)] = [],
        _ fill: (inout JSONWriter) -> Void
    ) -> Response {
        Response(
            status: status,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
                + headers,
            body: JSONWriter.object(fill))
    }
}

extension Duration {
    /// As `Retry-After` has it (RFC 9110 §10.2.3): whole seconds, at least 1.
    var retryAfterSeconds: Int64 {
        let (seconds, attoseconds) = components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }
}
