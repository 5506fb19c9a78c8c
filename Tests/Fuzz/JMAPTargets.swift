import JMAP
import LocalMail
import StrictJSON
import TestPrimitives

/// A request for an account with some mail has a response that is JSON, in which no call failed for
/// a reason of the server. A brief one is the same.
///
/// The input is the methodCalls, without the brackets around them. `$` and a digit stand for the
/// ids of the account, which are new in each run.
func checkJMAP(_ input: [UInt8]) {
    let account = JMAPAccount()
    let using = JMAPLimits.capabilities.sorted().map { "\"\($0)\"" }.joined(separator: ",")
    let body = "{\"using\":[\(using)],\"methodCalls\":[".utf8 + account.filled(input) + "]}".utf8
    guard let request = try? JMAPRequest(Array(body), limits: JMAPLimits()) else { return }
    let gate = Gate()
    Task.detached {
        let dispatcher = Dispatcher()
        let brief = await dispatcher.respondBriefly(
            to: request, for: account.mail, sessionState: "s")
        let bytes = await dispatcher.respond(to: request, for: account.mail, sessionState: "s")
        precondition(brief == nil || brief == bytes, "a brief response differs")
        guard let response = try? JSONValue.parse(bytes).object else {
            // A message may have more parts in each other than JSONValue reads.
            precondition(bytes.count > 64)
            gate.release()
            return
        }
        let responses = response["methodResponses"]?.array ?? []
        precondition(responses.count >= request.calls.count, "a call has no response")
        for case .array(let parts) in responses where parts.first == .string("error") {
            precondition(parts[1].object?["type"] != .string("serverFail"))
        }
        account.check()
        gate.release()
    }
    gate.hold()
}

/// An account with a message of several parts, a draft, an upload and a submission.
private struct JMAPAccount {
    private let local: LocalMail
    let mail: AccountMail
    private let ids: [String]

    private static let message = """
        From: Ann <ann@here.test>\r\nTo: bob@here.test\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r
        Message-ID: <1@here.test>\r\nDate: Mon, 2 Jan 2023 03:04:05 +0200\r\nMIME-Version: 1.0\r
        Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\ntext\r\n--m\r
        Content-Type: text/html; charset=utf-8\r\n\r\n<p>ä &amp; b</p>\r\n--m\r
        Content-Type: message/rfc822\r\n\r\nSubject: in\r\n\r\nx\r\n--m--\r\n
        """

    init() {
        guard let reader = try? MIMEReader() else { fatalError("GMime is missing") }
        let account = MailAccount(id: "a", address: "ann@here.test")
        local = LocalMail(
            MailEnvironment(
                reader: reader, now: { MailInstant(milliseconds: 1_700_000_000_000) },
                random: { 1 << 63 },
                owner: { address in
                    address == account.address ? .account(account) : .elsewhere
                }, quota: { _ in 1_000_000 }))
        mail = local.mail(of: account)
        let folders = mail.folders().list.map(\.id)
        var set = EmailSet()
        set.create = [
            ("m", EmailDraft(.bytes(Array(Self.message.utf8)), folderIDs: [folders[0]])),
            ("n", EmailDraft(.bytes([]), folderIDs: [folders[1]], keywords: ["$draft"])),
        ]
        guard let created = try? mail.setEmails(set).created.map({ try $0.result.get() }),
            let blob = try? mail.upload(Array("Subject: up\r\n\r\nload".utf8), type: "text/plain")
        else { fatalError("an empty account is full") }
        ids = [
            folders[0], folders[1], created[0].id, created[0].blobID, created[0].threadID,
            created[1].id, blob, mail.identity.id, mail.states[.email], mail.states[.mailbox],
        ]
    }

    func filled(_ input: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var isMark = false
        for byte in input {
            if isMark, (0x30...0x39).contains(byte) {
                result.removeLast()
                result += ids[Int(byte) - 0x30].utf8
            } else {
                result.append(byte)
            }
            isMark = byte == UInt8(ascii: "$")
        }
        return result
    }

    /// The counts of the folders are those of their messages.
    func check() {
        let (emails, _) = mail.emails(mail.emailIDs(limit: .max))
        precondition(mail.usedBytes == emails.map(\.size).reduce(0, +))
        for folder in mail.folders().list {
            let count = emails.count { $0.folderIDs.contains(folder.id) }
            precondition(folder.counts.totalEmails == count)
        }
    }
}
