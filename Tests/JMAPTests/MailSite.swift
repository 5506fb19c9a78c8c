import LocalMail
import MIME
import StrictJSON

@testable import JMAP

/// Accounts at here.test whose messages are read by MIME, and a client for each.
struct MailSite {
    let mail: LocalMail
    let ann: Client
    let bob: Client

    init(limits: MailLimits = MailLimits(), quota: Int = 50_000_000) throws {
        mail = LocalMail(
            MailEnvironment(
                reader: MIMEReader(),
                now: { MailInstant(milliseconds: 1_700_000_000_000) },
                random: { 1 << 63 },
                owner: { address in
                    let parts = address.split(separator: "@")
                    guard parts.count == 2, parts[1] == "here.test" else { return .elsewhere }
                    return ["ann", "bob"].contains(parts[0])
                        ? .account(Self.account(String(parts[0]))) : .unknown
                }, quota: { _ in quota }), limits: limits)
        ann = Client(mail.mail(of: Self.account("ann")))
        bob = Client(mail.mail(of: Self.account("bob")))
    }

    private static func account(_ name: String) -> MailAccount {
        MailAccount(id: name, address: "\(name)@here.test")
    }
}

extension Client {
    var account: String { mail.account.id }

    func folder(_ role: FolderRole) -> String {
        mail.folders().list.first { $0.role == role }?.id ?? ""
    }

    /// Puts a message into the inbox.
    /// - Parameter message: with LF as line breaks.
    func add(_ message: String, keywords: [String] = []) throws -> CreatedEmail {
        try add(Array(message.replacing("\n", with: "\r\n").utf8), keywords: keywords)
    }

    func add(_ message: [UInt8], keywords: [String] = []) throws -> CreatedEmail {
        var set = EmailSet()
        set.create = [
            ("k", EmailDraft(.bytes(message), folderIDs: [folder(.inbox)], keywords: keywords))
        ]
        return try mail.setEmails(set).created[0].result.get()
    }

    /// The properties of one message.
    func get(_ id: String, _ properties: [String], more: String = "") async throws -> JSONObject {
        let names = properties.map { #""\#($0)""# }.joined(separator: ",")
        let (_, response) = try await call(
            "Email/get",
            #"{"accountId":"\#(account)","ids":["\#(id)"],"properties":[\#(names)]\#(more)}"#)
        return response["list"]?.array?.first?.object ?? JSONObject(members: [])
    }

    /// Email/set with one creation `k`.
    /// - Parameter members: besides mailboxIds.
    /// - Returns: the created object, and the error.
    func create(_ members: String) async throws -> (created: JSONObject?, error: JSONObject?) {
        let (_, response) = try await call(
            "Email/set",
            #"{"accountId":"\#(account)","create":{"k":{"mailboxIds":{"\#(folder(.drafts))":true},"#
                + #"\#(members)}}}"#)
        return (
            response["created"]?.object?["k"]?.object,
            response["notCreated"]?.object?["k"]?.object
        )
    }

    /// The bytes of a message as text, with LF as line breaks.
    func source(_ created: JSONObject?) -> String {
        var reader = BlobReader(mail)
        let blob = created?["blobId"]?.string.flatMap { reader.blob($0) }
        return String(decoding: blob?.bytes ?? [], as: UTF8.self).replacing("\r\n", with: "\n")
    }

    /// Uploads bytes, and returns the blob's id.
    func upload(_ text: String, type: String = "text/plain") throws -> String {
        try mail.upload(Array(text.utf8), type: type)
    }
}

extension JSONValue {
    /// The value of a JSON text.
    static func json(_ text: String) throws -> JSONValue { try .parse(Array(text.utf8)) }

    /// The value below these names and indices.
    subscript(_ path: String...) -> JSONValue? {
        var value: JSONValue? = self
        for step in path {
            if let index = Int(step), let array = value?.array {
                value = array.indices.contains(index) ? array[index] : nil
            } else {
                value = value?.object?[step]
            }
        }
        return value
    }
}
