internal import Scheduling

/// The value of the `Date` field (RFC 9110 §5.6.7), `Sun, 06 Nov 1994 08:49:37 GMT`. It is
/// formatted once a second.
struct HTTPDate: Sendable {
    private var second: Int64?
    private(set) var bytes: [UInt8] = []

    /// - Parameter seconds: since 1970-01-01T00:00:00Z.
    mutating func update(to seconds: Int64) {
        guard seconds != second else { return }
        second = seconds
        bytes = Array(HTTPDate.text(seconds).utf8)
    }

    static func text(_ seconds: Int64) -> String {
        UTCDate(secondsSince1970: seconds).rfc5322(zone: "GMT")
    }
}
