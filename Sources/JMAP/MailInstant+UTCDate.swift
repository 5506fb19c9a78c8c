internal import LocalMail
internal import Scheduling

/// A UTCDate of RFC 8620 §1.4: RFC 3339 with `Z`, without a fraction that is 0.
extension MailInstant {
    /// - Returns: `nil` for every other text, and for a time that does not exist. Of a fraction the
    ///   milliseconds count.
    init?(utcDate text: String) {
        guard let milliseconds = UTCDate.milliseconds(rfc3339: text) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// As text, in milliseconds where they are not 0.
    var utcDate: String {
        let fraction = (milliseconds % 1000 + 1000) % 1000
        return UTCDate(secondsSince1970: (milliseconds - fraction) / 1000)
            .rfc3339(milliseconds: Int(fraction))
    }
}
