internal import AuthCore
internal import Scheduling

/// A message as it is sent (RFC 5322), with a plain and an HTML form (RFC 2046 §5.1.4).
///
/// Written without GMime, which a server without mailboxes of its own does not need.
struct MailMessage {
    let sender: MailAddress
    let recipient: Email
    let text: MailText
    /// Unique: letters and digits.
    let id: String
    let time: Instant

    /// In quoted-printable, "=" is followed by a hexadecimal digit or a line break. So no part has
    /// this text (RFC 2045 §6.7).
    private var boundary: String { "=_\(id)" }

    var bytes: [UInt8] {
        let fields = [
            ("From", sender.field), ("To", recipient.text), ("Subject", text.subject),
            ("Date", UTCDate(secondsSince1970: time.seconds).rfc5322()),
            ("Message-ID", "<\(id)@\(sender.email.domain)>"),
            // No program answers it (RFC 3834 §5).
            ("Auto-Submitted", "auto-generated"), ("MIME-Version", "1.0"),
            ("Content-Type", "multipart/alternative;\r\n boundary=\"\(boundary)\""),
        ]
        let head = fields.map { "\($0.0): \($0.1)\r\n" }.joined()
        return Array(
            "\(head)\r\n\(part("plain", text.plain))\(part("html", text.html))--\(boundary)--\r\n"
                .utf8)
    }

    private func part(_ subtype: String, _ content: String) -> String {
        """
        --\(boundary)\r
        Content-Type: text/\(subtype); charset=utf-8\r
        Content-Transfer-Encoding: quoted-printable\r
        \r
        \(QuotedPrintable.encode(content))\r

        """
    }
}

/// RFC 2045 §6.7.
enum QuotedPrintable {
    /// Without CRLF; a line may end with "=".
    private static let lineBytes = 76

    /// - Parameter text: with LF as line breaks, which become CRLF.
    static func encode(_ text: String) -> String {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { encode(line: Array($0)) }.joined(separator: "\r\n")
    }

    private static func encode(line: [UInt8]) -> String {
        var encoded = ""
        var column = 0
        for (index, byte) in line.enumerated() {
            let isLast = index == line.count - 1
            // White space at the end of a line may get lost.
            let isPlain =
                (0x21...0x7e).contains(byte) && byte != UInt8(ascii: "=") || byte == 0x20 && !isLast
            let piece = isPlain ? String(UnicodeScalar(byte)) : hex(byte)
            if column + piece.utf8.count > lineBytes - (isLast ? 0 : 1) {
                encoded += "=\r\n"
                column = 0
            }
            encoded += piece
            column += piece.utf8.count
        }
        return encoded
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = Array("0123456789ABCDEF".unicodeScalars)
        return "=\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }
}
