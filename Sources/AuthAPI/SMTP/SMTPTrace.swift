internal import LocalMail
internal import Networking
internal import Scheduling

/// The fields that a server puts before a message that it delivers (RFC 5321 §4.4).
struct SMTPTrace {
    let message: SMTPMessage
    let client: IPAddress
    let serverName: String
    let now: MailInstant

    init(message: SMTPMessage, client: IPAddress, serverName: String, at now: MailInstant) {
        self.message = message
        self.client = client
        self.serverName = serverName
        self.now = now
    }

    /// The recipient is named only if there is one, because the others may be secret.
    var bytes: [UInt8] {
        let date = UTCDate(secondsSince1970: now.milliseconds / 1_000).rfc5322()
        var text = "Return-Path: <\(message.mailFrom)>\r\n"
        text += "Received: from \(clientName) (\(literal))\r\n"
        text += "\tby \(serverName) with \(message.protocolName)"
        if message.recipients.count == 1 { text += "\r\n\tfor <\(message.recipients[0])>" }
        text += ";\r\n\t\(date)\r\n"
        return Array(text.utf8)
    }

    /// What the client called itself, unless it is neither a domain nor an address literal: then it
    /// could look like another part of the field.
    private var clientName: String {
        let isValid = message.clientName.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x3A, 0x41...0x5B, 0x5D, 0x5F, 0x61...0x7A: true
            default: byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
            }
        }
        return isValid && !message.clientName.isEmpty ? message.clientName : "unknown"
    }

    private var literal: String { client.isIPv4 ? "[\(client)]" : "[IPv6:\(client)]" }
}
