internal import MIME
internal import StrictJSON

/// What of the parts of messages is to be returned (RFC 8621 §4.2).
struct BodyProperties {
    private let names: [String]
    private let headers: [String: HeaderProperty]
    private let fetchesText: Bool
    private let fetchesHTML: Bool
    private let fetchesAll: Bool
    private let maxValueBytes: Int

    private static let defaults = [
        "partId", "blobId", "size", "name", "type", "charset", "disposition", "cid", "language",
        "location",
    ]
    private static let known = Set(defaults).union(["headers", "subParts"])

    init(_ arguments: Arguments) throws(MethodError) {
        var names: [String] = []
        var known: Set<String> = []
        var headers: [String: HeaderProperty] = [:]
        for name in try arguments.strings("bodyProperties") ?? Self.defaults
        where known.insert(name).inserted {
            if !Self.known.contains(name) {
                guard let header = HeaderProperty(name) else {
                    throw .invalidArguments("A part has no property `\(name)`.")
                }
                headers[name] = header
            }
            names.append(name)
        }
        guard names.count <= EmailProperties.maxCount else {
            throw .invalidArguments("There are too many `bodyProperties`.")
        }
        self.names = names
        self.headers = headers
        fetchesText = try arguments.bool("fetchTextBodyValues")
        fetchesHTML = try arguments.bool("fetchHTMLBodyValues")
        fetchesAll = try arguments.bool("fetchAllBodyValues")
        maxValueBytes = try arguments.integer("maxBodyValueBytes", from: 0) ?? 0
    }

    func list(_ parts: [BodyPart], in body: EmailBody) -> JSONValue {
        .array(parts.map { .object(JSONObject(members: members(of: $0, in: body))) })
    }

    /// A part with all parts in it. These are returned without being asked for: without them
    /// nothing would say what a multipart has.
    func value(of part: BodyPart, in body: EmailBody) -> JSONValue {
        var members = members(of: part, in: body).filter { $0.name != "subParts" }
        if let parts = part.subParts {
            members.append(.init("subParts", .array(parts.map { value(of: $0, in: body) })))
        } else if names.contains("subParts") {
            members.append(.init("subParts", .null))
        }
        return .object(JSONObject(members: members))
    }

    /// The bodyValues.
    func values(in body: EmailBody) -> JSONValue {
        var parts: [BodyPart] = []
        if fetchesAll {
            parts = body.root.all
        } else {
            if fetchesText { parts += body.textBody }
            if fetchesHTML { parts += body.htmlBody }
        }
        var known: Set<String> = []
        var members: [JSONObject.Member] = []
        for part in parts where part.type.utf8.starts(with: "text/".utf8) {
            guard let id = part.partId, known.insert(id).inserted else { continue }
            members.append(.init(id, value(of: body.message.text(of: part), part.type)))
        }
        return .object(JSONObject(members: members))
    }

    private func value(of decoded: DecodedText, _ type: String) -> JSONValue {
        var text = decoded.text
        let isTruncated = maxValueBytes > 0 && text.utf8.count > maxValueBytes
        if isTruncated {
            text = TextCut.cut(text, bytes: maxValueBytes, isHTML: type == "text/html")
        }
        return .object(
            JSONObject(members: [
                .init("value", .string(text)),
                .init("isEncodingProblem", .bool(decoded.isEncodingProblem)),
                .init("isTruncated", .bool(isTruncated)),
            ]))
    }

    private func members(of part: BodyPart, in body: EmailBody) -> [JSONObject.Member] {
        names.map { .init($0, value(of: $0, part, in: body)) }
    }

    private func value(of name: String, _ part: BodyPart, in body: EmailBody) -> JSONValue {
        if let property = headers[name] { return property.value(in: part.header) }
        return switch name {
        case "partId": .optional(part.partId)
        case "blobId": .optional(body.blobID(of: part))
        case "size": .integer(Int64(part.size))
        case "headers": .fields(part.header)
        case "name": .optional(part.name)
        case "type": .string(part.type)
        case "charset": .optional(part.charset)
        case "disposition": .optional(part.disposition)
        case "cid": .optional(part.cid)
        case "language": part.language.map(JSONValue.strings) ?? .null
        case "location": .optional(part.location)
        default: .null
        }
    }
}

/// A parsed message whose parts have the ids of blobs.
struct EmailBody {
    let message: ParsedMessage
    private let blobID: String
    /// By part id, from 1.
    private let places: [String: Int]

    init(_ message: ParsedMessage, blobID: String) {
        self.message = message
        self.blobID = blobID
        var places: [String: Int] = [:]
        for (index, part) in message.root.all.enumerated() {
            if let id = part.partId { places[id] = index + 1 }
        }
        self.places = places
    }

    var root: BodyPart { message.root }
    var textBody: [BodyPart] { message.textBody }
    var htmlBody: [BodyPart] { message.htmlBody }
    var attachments: [BodyPart] { message.attachments }

    /// - Returns: `nil` for a multipart.
    func blobID(of part: BodyPart) -> String? {
        part.partId.flatMap { places[$0] }.map { BlobReader.id(ofPart: $0, in: blobID) }
    }
}

enum TextCut {
    /// - Parameter isHTML: whether the end of the text may not be within a tag, where possible.
    static func cut(_ text: String, bytes: Int, isHTML: Bool = false) -> String {
        var kept = Array(text.utf8.prefix(bytes))
        // A character begins with a byte that is not one of its later ones.
        if kept.count < text.utf8.count {
            let next = text.utf8.dropFirst(kept.count).first ?? 0
            if next & 0xC0 == 0x80 {
                while let last = kept.popLast(), last & 0xC0 == 0x80 {}
            }
        }
        if isHTML, let open = kept.lastIndex(of: UInt8(ascii: "<")),
            !kept[open...].contains(UInt8(ascii: ">"))
        {
            kept.removeSubrange(open...)
        }
        return String(decoding: kept, as: UTF8.self)
    }
}
