internal import HTTPEngine
internal import StrictJSON

extension Response {
    /// A JSON response that must not be cached.
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

    /// Adds the fields that a status must have: `WWW-Authenticate` to every 401 (RFC 9110 §15.5.2),
    /// `Retry-After` to a 429 and a 503.
    /// - Parameter challenge: the value of `WWW-Authenticate`.
    mutating func addErrorFields(retryAfter: Duration?, challenge: String = "Bearer") {
        if status == .unauthorized { headers.append(("WWW-Authenticate", challenge)) }
        if let retryAfter {
            headers.append(("Retry-After", String(retryAfter.retryAfterSeconds)))
        }
    }
}

extension Duration {
    /// The value of `Retry-After` (RFC 9110 §10.2.3): whole seconds, at least 1.
    var retryAfterSeconds: Int64 {
        let (seconds, attoseconds) = components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }

    /// A configured lifetime in words: `2 minutes`, `1 hour`, `90 seconds`.
    var inWords: String {
        let seconds = components.seconds
        for (length, unit) in [(86_400, "day"), (3600, "hour"), (60, "minute")] as [(Int64, String)]
        where seconds >= length && seconds % length == 0 {
            let count = seconds / length
            return count == 1 ? "1 \(unit)" : "\(count) \(unit)s"
        }
        return seconds == 1 ? "1 second" : "\(seconds) seconds"
    }
}
