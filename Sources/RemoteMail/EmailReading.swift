internal import LocalMail
internal import Scheduling
internal import StrictJSON

/// What is asked of emails, and how the answers are read.
enum EmailReading {
    /// Parts of each kind that are shown. The source has all of them.
    fileprivate static let maxParts = 1_000
    /// Bytes of one text of a body. The source has all of it.
    private static let textBytes: Int64 = 1 << 20

    static let listed = [
        "id", "from", "sender", "subject", "preview", "size", "keywords", "receivedAt",
    ]
    static let body = ["textBody", "htmlBody", "attachments", "bodyValues"]

    static let partArguments: [(name: String, value: JSONValue)] = [
        ("bodyProperties", .strings(["partId", "blobId", "size", "name", "type", "cid"]))
    ]
    static let bodyArguments =
        partArguments + [
            ("fetchTextBodyValues", .bool(true)), ("fetchHTMLBodyValues", .bool(true)),
            ("maxBodyValueBytes", .integer(textBytes)),
        ]

    private static let unlistedRoles: [JSONValue] = [
        .string("trash"), .string("drafts"), .string("sent"),
    ]

    /// The parts of ``LocalMail/MessageBody/attachments``.
    static func attachedParts(of email: Arguments) throws(StoreFailure) -> [Arguments] {
        var parts = try email.objects("attachments")
        var known = Set(parts.compactMap { $0.object["partId"]?.string })
        for part in try email.objects("htmlBody") + email.objects("textBody")
        where try !part.type.utf8.starts(with: "text/".utf8) {
            if known.insert(try part.text("partId")).inserted { parts.append(part) }
        }
        return Array(parts.prefix(maxParts))
    }

    /// The folders that are not listed.
    static let unlistedCall = MethodCall(
        "Mailbox/query",
        [
            (
                "filter",
                .members([
                    ("operator", .string("OR")),
                    ("conditions", .array(unlistedRoles.map { .members([("role", $0)]) })),
                ])
            )
        ])

    static func unlisted(_ response: Arguments) throws(StoreFailure) -> [String] {
        try response.ids("ids")
    }

    /// The state of all emails.
    static let stateCall = MethodCall("Email/get", [("ids", .array([]))])

    static func get(idsOf call: Int, _ name: String, _ path: String) -> MethodCall {
        MethodCall(
            "Email/get",
            [
                ("#ids", .result(of: call, name, path)),
                ("properties", .strings(listed + ["mailboxIds"])),
            ])
    }

    /// Emails that are in another folder than these (RFC 8621 §4.4.1).
    static func filter(
        _ unlisted: [String], unread: Bool = false, since date: String? = nil
    ) -> JSONValue {
        var condition: [(name: String, value: JSONValue)] = []
        if !unlisted.isEmpty { condition.append(("inMailboxOtherThan", .strings(unlisted))) }
        if unread { condition.append(("notKeyword", .string("$seen"))) }
        if let date { condition.append(("after", .string(date))) }
        return condition.isEmpty ? .null : .members(condition)
    }

    static func sort(isAscending: Bool) -> JSONValue {
        .array([
            .members([("property", .string("receivedAt")), ("isAscending", .bool(isAscending))])
        ])
    }

    /// The emails of a response in the order of `ids`. One that is gone by now is left out.
    static func listings(
        _ response: Arguments, in ids: [String]
    ) throws(StoreFailure) -> [MessageListing] {
        var found: [String: MessageListing] = [:]
        for email in try response.objects("list") {
            let listing = try MessageListing(email)
            found[listing.id] = listing
        }
        // Each once, however often the store names it.
        return ids.compactMap { found.removeValue(forKey: $0) }
    }
}

extension Arguments {
    /// `keywords` has only those that are set.
    var isRead: Bool {
        get throws(StoreFailure) {
            try members("keywords")["$seen"] == .bool(true)
        }
    }

    /// The media type of a part, in lower case. A type has at most 127 bytes on each side of the
    /// slash (RFC 6838 §4.2).
    fileprivate var type: String {
        get throws(StoreFailure) {
            let type = try text("type")
            return type.utf8.count <= 255 ? type.lowercased() : "application/octet-stream"
        }
    }

    fileprivate func addresses(_ name: String) throws(StoreFailure) -> [MailAddress] {
        guard object.present(name) != nil else { return [] }
        var addresses: [MailAddress] = []
        for address in try objects(name) {
            addresses.append(
                MailAddress(
                    name: try address.optionalText("name"),
                    email: try address.optionalText("email") ?? ""))
        }
        return addresses
    }
}

extension MessageListing {
    init(_ email: Arguments) throws(StoreFailure) {
        let author = try (email.addresses("from") + email.addresses("sender")).first
        let date = UTCDate.milliseconds(rfc3339: try email.text("receivedAt"))
        guard let milliseconds = date else {
            throw email.unexpected("receivedAt", "a UTCDate")
        }
        self.init(
            id: try email.id("id"), sender: author?.display ?? "", from: author?.email ?? "",
            subject: try email.optionalText("subject") ?? "", preview: try email.text("preview"),
            size: try email.size("size"), isRead: try email.isRead,
            receivedAt: MailInstant(milliseconds: milliseconds))
    }
}

extension MessageBody {
    init(_ email: Arguments) throws(StoreFailure) {
        var values: [String: String] = [:]
        for member in try email.members("bodyValues").members {
            values[member.name] = member.value.object?["value"]?.string
        }
        func joined(_ parts: String, of type: String) throws(StoreFailure) -> String? {
            var texts: [String] = []
            for part in try email.objects(parts).prefix(EmailReading.maxParts)
            where try part.optionalText("type") == type {
                guard let text = values[try part.text("partId")] else {
                    throw email.unexpected("bodyValues", "an object with the texts")
                }
                texts.append(text)
            }
            return texts.isEmpty ? nil : texts.joined(separator: "\n")
        }
        var attachments: [MessageAttachment] = []
        for part in try EmailReading.attachedParts(of: email) {
            attachments.append(try MessageAttachment(part))
        }
        self.init(
            text: try joined("textBody", of: "text/plain"),
            html: try joined("htmlBody", of: "text/html"), attachments: attachments)
    }
}

extension MessageAttachment {
    init(_ part: Arguments) throws(StoreFailure) {
        self.init(
            name: try part.optionalText("name"), type: try part.type,
            size: try part.size("size"), contentID: try part.optionalText("cid"))
    }
}
