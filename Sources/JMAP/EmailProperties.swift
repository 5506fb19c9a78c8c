internal import LocalMail
internal import MIME
internal import StrictJSON

/// What Email/get and Email/parse are asked to return (RFC 8621 §4.2).
struct EmailProperties {
    /// How much of a message must be read.
    enum Need: Comparable {
        case summary, header, body
    }

    /// By the names of the request, each once.
    let names: [String]
    let headers: [String: HeaderProperty]
    let need: Need
    let body: BodyProperties

    /// Without names; those of Email/parse have no metadata.
    static let metadata = [
        "id", "blobId", "threadId", "mailboxIds", "keywords", "size", "receivedAt",
    ]
    static let content = [
        "messageId", "inReplyTo", "references", "sender", "from", "to", "cc", "bcc", "replyTo",
        "subject", "sentAt", "hasAttachment", "preview", "bodyValues", "textBody", "htmlBody",
        "attachments",
    ]
    private static let others: Set<String> = ["headers", "bodyStructure"]
    private static let known = Set(metadata + content).union(others)
    /// Properties in one call. Each may be a header field of any form.
    static let maxCount = 200

    static let argumentNames: Set<String> = [
        "accountId", "properties", "bodyProperties", "fetchTextBodyValues", "fetchHTMLBodyValues",
        "fetchAllBodyValues", "maxBodyValueBytes",
    ]

    /// - Parameter defaults: the properties where none are named.
    init(_ arguments: Arguments, defaults: [String], alwaysID: Bool) throws(MethodError) {
        var names: [String] = []
        var known: Set<String> = []
        var headers: [String: HeaderProperty] = [:]
        var need = Need.summary
        let given = try arguments.strings("properties")
        for name in (alwaysID ? ["id"] : []) + (given ?? defaults)
        where known.insert(name).inserted {
            names.append(name)
            if !Self.known.contains(name) {
                guard let header = HeaderProperty(name) else {
                    throw .invalidArguments("There is no property `\(name)`.")
                }
                headers[name] = header
            }
            need = max(need, Self.need(of: name))
        }
        guard names.count <= Self.maxCount else {
            throw .invalidArguments("There are more than \(Self.maxCount) properties.")
        }
        self.names = names
        self.headers = headers
        self.need = need
        body = try BodyProperties(arguments)
    }

    private static func need(of name: String) -> Need {
        switch name {
        case "bodyStructure", "bodyValues", "textBody", "htmlBody", "attachments": .body
        // The summary has the instant alone, without the zone.
        case "replyTo", "sentAt", "headers": .header
        default: known.contains(name) ? .summary : .header
        }
    }

    /// What the properties say of a message, without metadata.
    ///
    /// - Parameter content: at least what is needed.
    func value(of name: String, in content: EmailContent) -> JSONValue? {
        if let property = headers[name] { return property.value(in: content.header) }
        switch name {
        case "headers": return .fields(content.header)
        case "replyTo", "sentAt":
            return HeaderProperty.named(name)?.value(in: content.header) ?? .null
        case "bodyStructure": return content.body.map { body.value(of: $0.root, in: $0) }
        case "bodyValues": return content.body.map { body.values(in: $0) }
        case "textBody": return content.body.map { body.list($0.textBody, in: $0) }
        case "htmlBody": return content.body.map { body.list($0.htmlBody, in: $0) }
        case "attachments": return content.body.map { body.list($0.attachments, in: $0) }
        default: return Self.value(of: name, in: content.summary)
        }
    }

    /// What the summary alone says of a message.
    static func value(of name: String, in summary: MessageSummary) -> JSONValue? {
        switch name {
        case "messageId": ids(summary.messageIDs)
        case "inReplyTo": ids(summary.inReplyTo)
        case "references": ids(summary.references)
        case "sender": addresses(summary.sender)
        case "from": addresses(summary.from)
        case "to": addresses(summary.to)
        case "cc": addresses(summary.cc)
        case "bcc": addresses(summary.bcc)
        case "subject": .optional(summary.subject)
        case "hasAttachment": .bool(summary.hasAttachment)
        case "preview": .string(summary.preview)
        default: nil
        }
    }

    private static func ids(_ list: [String]) -> JSONValue {
        list.isEmpty ? .null : .strings(list)
    }

    private static func addresses(_ list: [MailAddress]) -> JSONValue {
        list.isEmpty
            ? .null : .array(list.map { .address(name: $0.name, email: $0.email) })
    }
}

/// A message as far as it was read.
struct EmailContent {
    let summary: MessageSummary
    let header: HeaderFields
    let body: EmailBody?

    /// - Parameter isWhole: whether more than the header is read.
    /// - Throws: only where GMime is missing.
    init(
        _ bytes: [UInt8], blobID: String, summary: MessageSummary, isWhole: Bool
    ) throws(MIMEError) {
        self.summary = summary
        if isWhole {
            let message = try ParsedMessage(bytes)
            header = message.header
            body = EmailBody(message, blobID: blobID)
        } else {
            header = try HeaderFields(of: bytes)
            body = nil
        }
    }

    /// A message without a summary, as Email/parse has it.
    init(_ message: ParsedMessage, blobID: String) {
        summary = MessageSummary(message)
        header = message.header
        body = EmailBody(message, blobID: blobID)
    }
}

extension JSONValue {
    /// EmailHeader objects.
    static func fields(_ header: HeaderFields) -> JSONValue {
        .array(
            header.fields.map { field in
                .object(
                    JSONObject(members: [
                        .init("name", .string(field.name)), .init("value", .string(field.raw)),
                    ]))
            })
    }
}
