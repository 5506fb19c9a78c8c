internal import LocalMail
internal import MIME
internal import StrictJSON

/// Email/get and parse (RFC 8621 §4.2 and §4.9).
enum EmailGetMethods {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        [
            "Email/get": .one(Capability.mail, get),
            "Email/parse": .one(Capability.mail, parse),
        ]
    }

    @Sendable private static func get(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(EmailProperties.argumentNames.union(["ids"]))
        try arguments.checkAccount(of: context)
        let properties = try EmailProperties(
            arguments,
            defaults: EmailProperties.metadata + EmailProperties.content, alwaysID: true)
        if properties.need > .summary { try context.takesLong() }
        let given = try arguments.ids("ids", in: context)
        let ids = given ?? context.mail.emailIDs(limit: Arguments.maxObjects + 1)
        guard ids.count <= Arguments.maxObjects else { throw .requestTooLarge }
        try context.looks(at: ids.count)
        let (emails, state) = context.mail.emails(ids)
        var objects: [(id: String, value: JSONValue)] = []
        objects.reserveCapacity(emails.count)
        for email in emails {
            let value = try object(email, properties, &context)
            try context.returns(value)
            objects.append((email.id, value))
        }
        return StandardResponses.get(objects, of: given, state: state, in: context)
    }

    static func object(
        _ email: MailEmail, _ properties: EmailProperties, _ context: inout CallContext
    ) throws(MethodError) -> JSONValue {
        let summary = email.content.summary
        let content =
            properties.need == .summary ? nil : try read(email, properties.need, &context)
        var members: [JSONObject.Member] = []
        members.reserveCapacity(properties.names.count)
        for name in properties.names {
            let value =
                metadata(name, of: email)
                ?? content.map { properties.value(of: name, in: $0) }
                ?? EmailProperties.value(of: name, in: summary)
            members.append(.init(name, value ?? .null))
        }
        return .object(JSONObject(members: members))
    }

    /// The header is about a tenth of most messages, and is found without reading the rest.
    private static func read(
        _ email: MailEmail, _ need: EmailProperties.Need, _ context: inout CallContext
    ) throws(MethodError) -> EmailContent {
        if need == .body { try context.read(email.size) }
        do throws(MIMEError) {
            return try EmailContent(
                email.content.bytes, blobID: email.blobID, summary: email.content.summary,
                isWhole: need == .body)
        } catch {
            throw MethodError("serverUnavailable", error.description)
        }
    }

    private static func metadata(_ name: String, of email: MailEmail) -> JSONValue? {
        switch name {
        case "id": .string(email.id)
        case "blobId": .string(email.blobID)
        case "threadId": .string(email.threadID)
        case "mailboxIds": .names(email.folderIDs)
        case "keywords": .names(email.keywords)
        case "size": .integer(Int64(email.size))
        case "receivedAt": .string(email.receivedAt.utcDate)
        default: nil
        }
    }

    // MARK: Parse

    @Sendable private static func parse(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(EmailProperties.argumentNames.union(["blobIds"]))
        try arguments.checkAccount(of: context)
        let properties = try EmailProperties(
            arguments, defaults: EmailProperties.content, alwaysID: false)
        guard let ids = try arguments.ids("blobIds", in: context) else {
            throw .invalidArguments("`blobIds` must be an array of ids.")
        }
        var reader = BlobReader(context.mail)
        var parsed: [JSONObject.Member] = []
        var notParsable: [String] = []
        var notFound: [String] = []
        for id in ids {
            guard let blob = try context.blob(id, by: &reader) else {
                notFound.append(id)
                continue
            }
            guard let message = message(blob) else {
                notParsable.append(id)
                continue
            }
            let value = object(EmailContent(message, blobID: id), blob, properties)
            try context.returns(value)
            parsed.append(.init(id, value))
        }
        return [
            .init("accountId", .string(context.mail.account.id)),
            .init("parsed", parsed.isEmpty ? .null : .object(JSONObject(members: parsed))),
            .init("notParsable", notParsable.isEmpty ? .null : .strings(notParsable)),
            .init("notFound", notFound.isEmpty ? .null : .strings(notFound)),
        ]
    }

    /// - Returns: `nil` for bytes that do not begin with a field of a header.
    private static func message(_ blob: MailBlob) -> ParsedMessage? {
        do throws(MIMEError) {
            let message = try ParsedMessage(blob.bytes)
            return message.header.fields.isEmpty ? nil : message
        } catch {
            // Without GMime nothing can be parsed.
            return nil
        }
    }

    private static func object(
        _ content: EmailContent, _ blob: MailBlob, _ properties: EmailProperties
    ) -> JSONValue {
        .object(
            JSONObject(
                members: properties.names.map { name in
                    let value: JSONValue? =
                        switch name {
                        case "blobId": .string(blob.id)
                        case "size": .integer(Int64(blob.bytes.count))
                        default: properties.value(of: name, in: content)
                        }
                    return .init(name, value ?? .null)
                }))
    }
}

extension CallContext {
    /// Finds a blob, and counts its bytes and the messages that are read for it.
    mutating func blob(
        _ id: String, by reader: inout BlobReader
    ) throws(MethodError) -> MailBlob? {
        let before = reader.parsedBytes
        let blob = reader.blob(id)
        try read(reader.parsedBytes - before + (blob?.bytes.count ?? 0))
        return blob
    }
}

extension JSONValue {
    /// An object in which each name is true, as `keywords`.
    static func names(_ names: [String]) -> JSONValue {
        .object(JSONObject(members: names.map { .init($0, .bool(true)) }))
    }

    /// The names of an object in which each is true.
    var trueNames: [String]? {
        guard let members = object?.members,
            members.allSatisfy({ $0.value == .bool(true) })
        else { return nil }
        return members.map(\.name)
    }
}
