import JMAP
import LocalMail

/// Knows no field of a message but the subject, and all of its body.
struct SubjectReader: MessageReader {
    func summary(of message: [UInt8]) -> MessageSummary {
        var summary = MessageSummary()
        summary.subject = headerValues(named: "Subject", in: message).first
        return summary
    }

    func bodyText(of message: [UInt8]) -> String { "" }

    func body(of message: [UInt8]) throws -> MessageBody { try MIMEReader().body(of: message) }

    func attachment(
        _ index: Int, of message: [UInt8]
    ) throws -> (attachment: MessageAttachment, content: [UInt8])? {
        try MIMEReader().attachment(index, of: message)
    }

    func headerValues(named name: String, in message: [UInt8]) -> [String] {
        String(decoding: message.prefix(1000), as: UTF8.self).split(separator: "\r\n")
            .filter { $0.hasPrefix("\(name): ") }.map { String($0.dropFirst(name.count + 2)) }
    }
}
