/// A reply of the server (RFC 5321 §4.2), with an enhanced status code (RFC 3463) where there is
/// one.
public struct SMTPReply: Error, Hashable, Sendable {
    public let code: Int
    public let status: String?
    /// At least one.
    public let lines: [String]

    init(_ code: Int, _ status: String?, _ lines: String...) {
        self.init(code, status, lines: lines)
    }

    init(_ code: Int, _ status: String?, lines: [String]) {
        self.code = code
        self.status = status
        self.lines = lines
    }

    init(_ failure: DeliveryFailure) {
        switch failure {
        case .unknownRecipient: self.init(550, "5.1.1", "No such mailbox")
        case .mailboxFull: self.init(452, "4.2.2", "Mailbox full")
        case .messageTooLarge: self.init(552, "5.3.4", "Message too large")
        case .systemFull: self.init(452, "4.3.1", "No memory left for mail")
        case .messageRejected: self.init(554, "5.6.0", "Message rejected, as a test asked")
        case .temporary: self.init(451, "4.3.0", "Try again later")
        }
    }

    /// There is one reply for all recipients. Those that fail now were accepted by RCPT, and a
    /// sender that tried again would deliver to the others twice.
    init(_ results: [DeliveryResult]) {
        let failures = results.compactMap { result -> DeliveryFailure? in
            if case .failed(let failure) = result.outcome { failure } else { nil }
        }
        if let failure = failures.first, failures.count == results.count {
            self.init(failure)
        } else {
            let count = results.count - failures.count
            self.init(250, "2.0.0", "Accepted for \(count) of \(results.count) recipients")
        }
    }

    static let delivered = SMTPReply(250, "2.0.0", "Delivered")

    static let lineTooLong = SMTPReply(554, "5.6.0", "A line has more than 998 bytes")
    static let bareLineEnd = SMTPReply(500, "5.5.2", "Lines must end with CRLF")

    /// The reply to EHLO.
    static func extensions(serverName: String, messageBytes: Int) -> SMTPReply {
        let extensions = [
            "PIPELINING", "SIZE \(messageBytes)", "8BITMIME", "SMTPUTF8", "CHUNKING",
            "ENHANCEDSTATUSCODES", "AUTH PLAIN LOGIN", "HELP",
        ]
        return SMTPReply(250, nil, lines: [serverName] + extensions)
    }

    /// The last line, without its end.
    public var text: String {
        let words = [String(code)] + [status, lines.last].compactMap(\.self)
        return words.joined(separator: " ")
    }

    var isPermanentError: Bool { code >= 500 }

    /// As sent.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for (index, line) in lines.enumerated() {
            bytes += "\(code)\(index == lines.count - 1 ? " " : "-")".utf8
            if let status { bytes += "\(status) ".utf8 }
            bytes += line.utf8
            bytes += "\r\n".utf8
        }
        return bytes
    }
}

extension DeliveryFailure {
    /// Whether the sender may try again (a 4yz reply).
    public var isTemporary: Bool { !SMTPReply(self).isPermanentError }
}
