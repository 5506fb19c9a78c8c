internal import LocalMail
internal import MIME
internal import StrictJSON

/// The body of a message that is to be created (RFC 8621 §4.6).
///
/// Reads the properties `bodyStructure`, or `textBody`, `htmlBody` and `attachments`, with
/// `bodyValues`.
struct DraftBody {
    /// Finds the bytes that a part names.
    typealias FindBlob = (String) throws(SetError) -> MailBlob?

    private let object: JSONObject
    private let limits: JMAPLimits
    private var values: [String: String] = [:]
    private var missing: [String] = []
    private var blobBytes = 0

    init(_ object: JSONObject, limits: JMAPLimits) {
        self.object = object
        self.limits = limits
    }

    static let properties: Set<String> = [
        "bodyStructure", "textBody", "htmlBody", "attachments", "bodyValues",
    ]

    /// - Returns: the root of the message.
    mutating func read(_ blob: FindBlob) throws(SetError) -> DraftPart {
        values = try readValues()
        let root = try structure(blob)
        if !missing.isEmpty { throw .blobNotFound(missing) }
        return root
    }

    private func readValues() throws(SetError) -> [String: String] {
        guard let value = object.present("bodyValues") else { return [:] }
        guard let members = value.object?.members else {
            throw .invalidProperties(["bodyValues"])
        }
        var values: [String: String] = [:]
        for member in members {
            guard let value = member.value.object, let text = value["value"]?.string,
                value.members.allSatisfy(Self.isMemberOfValue)
            else { throw .invalidProperties(["bodyValues"]) }
            values[member.name] = text
        }
        return values
    }

    private static func isMemberOfValue(_ member: JSONObject.Member) -> Bool {
        switch member.name {
        case "value": true
        case "isEncodingProblem", "isTruncated":
            member.value == .bool(false) || member.value == .null
        default: false
        }
    }

    private mutating func structure(_ blob: FindBlob) throws(SetError) -> DraftPart {
        let lists = ["textBody", "htmlBody", "attachments"]
        if let value = object.present("bodyStructure") {
            let others = lists.filter { object.present($0) != nil }
            if !others.isEmpty { throw .invalidProperties(["bodyStructure"] + others) }
            return try part(value, of: "bodyStructure", blob)
        }
        let text = try one("textBody", "text/plain", blob)
        let html = try one("htmlBody", "text/html", blob)
        var inline: [DraftPart] = []
        var attached: [DraftPart] = []
        for value in try list("attachments") {
            var part = try part(value, of: "attachments", blob)
            // What the HTML shows is beside it.
            let isInline = html != nil && part.cid != nil && part.disposition != "attachment"
            part.disposition = part.disposition ?? (isInline ? "inline" : "attachment")
            if isInline { inline.append(part) } else { attached.append(part) }
        }
        let shown = html.map { DraftPart.multipart("related", [$0] + inline) }
        let bodies = [text, shown].compactMap(\.self)
        let none = DraftPart(type: "text/plain", content: .text(""))
        let body = bodies.isEmpty ? none : DraftPart.multipart("alternative", bodies)
        return DraftPart.multipart("mixed", [body] + attached)
    }

    private func list(_ property: String) throws(SetError) -> [JSONValue] {
        guard let value = object.present(property) else { return [] }
        guard let list = value.array, list.count <= MIMELimits.standard.parts else {
            throw .invalidProperties([property])
        }
        return list
    }

    private mutating func one(
        _ property: String, _ type: String, _ blob: FindBlob
    ) throws(SetError) -> DraftPart? {
        let list = try list(property)
        guard let value = list.first else {
            guard object.present(property) == nil else { throw .invalidProperties([property]) }
            return nil
        }
        let part = try part(value, of: property, defaultType: type, blob)
        guard list.count == 1, part.type == type else { throw .invalidProperties([property]) }
        return part
    }

    /// - Parameters:
    ///   - property: of the message, for errors.
    ///   - defaultType: of a part that names none; the blob's, where there is none.
    private mutating func part(
        _ value: JSONValue, of property: String, defaultType: String? = nil, _ blob: FindBlob
    ) throws(SetError) -> DraftPart {
        guard let object = value.object, let given = PartMembers(object) else {
            throw .invalidProperties([property])
        }
        let type = given.type?.lowercased() ?? defaultType
        var part = DraftPart(
            type: type ?? "text/plain", content: .text(""), disposition: given.disposition,
            name: given.name, cid: given.cid)
        part.language = given.language
        part.location = given.location
        part.fields = given.fields
        switch (given.subParts, given.partID, given.blobID) {
        case (let children?, nil, nil):
            guard given.charset == nil, children.count <= MIMELimits.standard.parts else {
                throw .invalidProperties([property])
            }
            var parts: [DraftPart] = []
            for child in children { parts.append(try self.part(child, of: property, blob)) }
            part.content = .parts(parts)
        case (nil, let id?, nil):
            guard let text = values[id] else {
                throw .invalidProperties([property, "bodyValues"])
            }
            guard given.charset == nil, !given.hasSize else {
                throw .invalidProperties([property])
            }
            let isText = part.type.utf8.starts(with: "text/".utf8)
            part.content = isText ? .text(text) : .bytes(Array(text.utf8))
        case (nil, nil, let id?):
            guard let found = try blob(id) else {
                missing.append(id)
                return part
            }
            try add(found, charset: given.charset, type: type, to: &part)
        default: throw .invalidProperties([property])
        }
        return part
    }

    private mutating func add(
        _ blob: MailBlob, charset: String?, type: String?, to part: inout DraftPart
    ) throws(SetError) {
        blobBytes += blob.bytes.count
        guard blobBytes <= limits.maxSizeAttachmentsPerEmail else {
            throw .tooLarge(limits.maxSizeAttachmentsPerEmail)
        }
        part.type = type ?? BlobMethods.mediaType(blob.type)
        part.content = .bytes(blob.bytes)
        part.charset = charset
        let isText = part.type.utf8.starts(with: "text/".utf8)
        if charset == nil, isText, String(validating: blob.bytes, as: UTF8.self) != nil {
            part.charset = "utf-8"
        }
    }
}

/// The members of an EmailBodyPart that a client may give.
private struct PartMembers {
    var partID: String?
    var blobID: String?
    var name: String?
    var type: String?
    var charset: String?
    var disposition: String?
    var cid: String?
    var language: [String]?
    var location: String?
    var subParts: [JSONValue]?
    var hasSize = false
    var fields: [DraftField] = []

    /// - Returns: `nil` where one has another type, is not the client's to give, or names a field
    ///   that another one names.
    init?(_ object: JSONObject) {
        var header = DraftFields()
        for member in object.members where member.value != .null {
            switch (member.name, member.value) {
            case ("partId", .string(let text)): partID = text
            case ("blobId", .string(let text)): blobID = text
            case ("name", .string(let text)): name = text
            case ("type", .string(let text)): type = text
            case ("charset", .string(let text)): charset = text
            case ("disposition", .string(let text)): disposition = text
            case ("cid", .string(let text)): cid = text
            case ("location", .string(let text)): location = text
            case ("language", .array):
                guard let tags = member.value.strings else { return nil }
                language = tags
            case ("subParts", .array(let parts)): subParts = parts
            case ("size", .integer): hasSize = true
            default:
                // A part has no convenience properties.
                guard HeaderProperty(member.name) != nil else { return nil }
                header.add(member.name, member.value)
            }
        }
        guard header.invalid.isEmpty else { return nil }
        fields = header.fields
    }
}
