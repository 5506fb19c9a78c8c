import LocalMail
import Synchronization
import TestPrimitives

/// Mail of accounts whose addresses are `NAME@here.test`, with a clock that only moves when told.
final class MailWorld: Sendable {
    private let clock = Mutex<Int64>(1_000_000)
    private let generator = Mutex(SeededGenerator(seed: 1))
    let quota = Mutex(100 << 20)
    let reader = PlainReader()
    let arrived = Record<String>()
    private let held = Mutex<LocalMail?>(nil)

    init(limits: MailLimits = MailLimits()) {
        let environment = MailEnvironment(
            reader: reader, now: { [self] in now },
            random: { [self] in generator.withLock { $0.next() } },
            owner: Self.owner,
            quota: { [self] _ in quota.withLock { $0 } },
            delivered: { [self] account, email in arrived.add("\(account.id) \(email.id)") })
        held.withLock { $0 = LocalMail(environment, limits: limits) }
    }

    var mail: LocalMail {
        guard let mail = held.withLock({ $0 }) else { fatalError("no mail") }
        return mail
    }

    /// Ends the cycle of the mail and the closures that it calls.
    func end() { held.withLock { $0 = nil } }

    var now: MailInstant { MailInstant(milliseconds: clock.withLock { $0 }) }

    func advance(_ milliseconds: Int64 = 1) { clock.withLock { $0 += milliseconds } }

    static func account(_ name: String) -> MailAccount {
        MailAccount(id: name, address: "\(name)@here.test")
    }

    let ann = MailWorld.account("ann")
    let bob = MailWorld.account("bob")

    func box(_ account: MailAccount) -> AccountMail { mail.mail(of: account) }

    /// `nobody@here.test` is nobody's, `busy@here.test` cannot be looked up.
    @Sendable static func owner(of address: String) async -> AddressOwner {
        let parts = address.lowercased().split(separator: "@")
        guard parts.count == 2, parts[1] == "here.test" else { return .elsewhere }
        let name = parts[0].split(separator: "+").first.map(String.init) ?? ""
        switch name {
        case "nobody": return .unknown
        case "busy": return .unavailable
        default: return .account(account(name))
        }
    }

    /// Delivers to ann and returns the id of the message.
    @discardableResult
    func deliver(
        _ fields: String = "", body: String = "text", to recipient: String = "ann@here.test"
    ) async -> String {
        advance()
        let results = await mail.deliver(
            message(fields, body: body), from: "x@there.test", to: [recipient])
        guard case .delivered(_, let id)? = results.first?.outcome else { return "" }
        return id
    }

    /// - Parameter fields: with `|` between them.
    func message(_ fields: String = "", body: String = "text") -> [UInt8] {
        let lines = fields.split(separator: "|").map { "\($0)\r\n" }.joined()
        return Array("\(lines)\r\n\(body)\r\n".utf8)
    }

    func folder(_ role: FolderRole, of account: MailAccount) -> MailFolder {
        guard let folder = box(account).folders().list.first(where: { $0.role == role }) else {
            fatalError("no folder \(role)")
        }
        return folder
    }

    func ids(_ query: MailQuery, of account: MailAccount) throws -> [String] {
        try box(account).queryEmails(query).ids
    }
}

/// Reads header fields of one line, and a body that is all text. Counts how often it reads a body.
final class PlainReader: MessageReader {
    let bodies = Mutex(0)

    func summary(of message: [UInt8]) -> MessageSummary {
        var summary = MessageSummary()
        summary.messageIDs = words("Message-ID", message)
        summary.inReplyTo = words("In-Reply-To", message)
        summary.references = words("References", message)
        summary.from = addresses("From", message)
        summary.sender = addresses("Sender", message)
        summary.to = addresses("To", message)
        summary.cc = addresses("Cc", message)
        summary.bcc = addresses("Bcc", message)
        summary.subject = headerValues(named: "Subject", in: message).first
        summary.sentAt = headerValues(named: "Date", in: message).first
            .flatMap { Int64($0) }.map(MailInstant.init)
        summary.hasAttachment = !headerValues(named: "X-File", in: message).isEmpty
        summary.preview = String(body(message).prefix(256))
        return summary
    }

    func body(of message: [UInt8]) -> MessageBody {
        MessageBody(text: body(message), html: nil, attachments: [])
    }

    func attachment(
        _ index: Int, of message: [UInt8]
    ) -> (attachment: MessageAttachment, content: [UInt8])? { nil }

    func bodyText(of message: [UInt8]) -> String {
        bodies.withLock { $0 += 1 }
        return body(message)
    }

    func headerValues(named name: String, in message: [UInt8]) -> [String] {
        let text = String(decoding: message, as: UTF8.self)
        let header = text.split(separator: "\r\n", omittingEmptySubsequences: false)
            .prefix { !$0.isEmpty }
        return header.compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
            return String(parts[1].drop { $0 == " " })
        }
    }

    private func body(_ message: [UInt8]) -> String {
        let text = String(decoding: message, as: UTF8.self)
        return text.split(separator: "\r\n", omittingEmptySubsequences: false)
            .drop { !$0.isEmpty }.dropFirst().joined(separator: "\n")
    }

    private func words(_ name: String, _ message: [UInt8]) -> [String] {
        headerValues(named: name, in: message).flatMap { $0.split(separator: " ").map(String.init) }
    }

    private func addresses(_ name: String, _ message: [UInt8]) -> [MailAddress] {
        headerValues(named: name, in: message).flatMap { $0.split(separator: ",") }.map { text in
            let parts = text.split(separator: "<")
            guard parts.count == 2 else {
                return MailAddress(email: String(text.filter { $0 != " " }))
            }
            return MailAddress(
                name: String(parts[0]).trimmed, email: String(parts[1].dropLast()))
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
