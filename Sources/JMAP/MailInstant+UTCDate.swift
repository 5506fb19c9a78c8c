internal import LocalMail
internal import Scheduling

/// A UTCDate of RFC 8620 §1.4: RFC 3339 with `Z`, without a fraction that is 0.
extension MailInstant {
    /// - Returns: `nil` for every other text, and for a time that does not exist. Of a fraction the
    ///   milliseconds count.
    init?(utcDate text: String) {
        let bytes = text.utf8
        var whole = text
        var milliseconds: Int64 = 0
        if bytes.count > 20 {
            let start = bytes.index(bytes.startIndex, offsetBy: 19)
            let digits = bytes[start...].dropFirst().dropLast()
            guard bytes[start] == UInt8(ascii: "."), bytes.last == UInt8(ascii: "Z"),
                (1...9).contains(digits.count),
                digits.allSatisfy({ (0x30...0x39).contains($0) })
            else { return nil }
            let three = (Array(digits) + [0x30, 0x30]).prefix(3)
            milliseconds = three.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
            whole = String(Substring(bytes[..<start])) + "Z"
        }
        guard whole.utf8.count == 20, let date = UTCDate(rfc3339: whole) else { return nil }
        self.init(milliseconds: date.secondsSince1970 * 1000 + milliseconds)
    }

    /// As text, in milliseconds where they are not 0.
    var utcDate: String {
        let fraction = (milliseconds % 1000 + 1000) % 1000
        let text = UTCDate(secondsSince1970: (milliseconds - fraction) / 1000).rfc3339
        guard fraction != 0 else { return text }
        let digits = String(1000 + fraction).utf8.dropFirst()
        return String(Substring(text.utf8.dropLast())) + "." + String(Substring(digits)) + "Z"
    }
}
