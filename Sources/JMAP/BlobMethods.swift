internal import Cryptography
internal import LocalMail
internal import StrictJSON

/// Blob/upload and get (RFC 9404 §4).
enum BlobMethods {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        [
            "Blob/upload": .one(Capability.blob, upload),
            "Blob/get": .one(Capability.blob, get),
        ]
    }

    /// The one digest that there is.
    static let digest = "sha-256"

    // MARK: Upload

    @Sendable private static func upload(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(["accountId", "create"])
        try arguments.checkAccount(of: context)
        let objects = try arguments.objects("create")
        guard objects.count <= Arguments.maxObjects else { throw .requestTooLarge }
        let limits = JMAPLimits(context.mail.limits)
        var reader = BlobReader(context.mail)
        var response = SetResponse()
        // Older uploads go when there is no room; those of the same call would be of no use.
        var left = context.mail.limits.uploadedBytes
        for (creationID, value) in objects {
            let data = try data(value, by: &reader, &context, limits)
            let created = Result { () throws(SetError) in
                let (bytes, type) = try data.get()
                guard bytes.count <= left else { throw SetError("overQuota") }
                left -= bytes.count
                do throws(UploadError) {
                    let id = try context.mail.upload(bytes, type: type)
                    return (id: id, type: type, size: bytes.count)
                } catch {
                    throw SetError(error)
                }
            }
            if case .success(let blob) = created { context.created(creationID, as: blob.id) }
            response.create(
                creationID,
                created.map { blob in
                    .object(
                        JSONObject(members: [
                            .init("id", .string(blob.id)), .init("type", .string(blob.type)),
                            .init("size", .integer(Int64(blob.size))),
                        ]))
                })
        }
        return response.creationMembers(states: nil, in: context)
    }

    private typealias Upload = Result<(bytes: [UInt8], type: String), SetError>

    /// An UploadObject.
    private static func data(
        _ value: JSONValue, by reader: inout BlobReader, _ context: inout CallContext,
        _ limits: JMAPLimits
    ) throws(MethodError) -> Upload {
        guard let object = value.object, let sources = object["data"]?.array,
            sources.count <= limits.maxDataSources
        else { return .failure(.invalidProperties(["data"])) }
        let unknown = object.members.map(\.name).filter { $0 != "data" && $0 != "type" }
        if !unknown.isEmpty { return .failure(.invalidProperties(unknown)) }
        var type = defaultType
        if let given = object.present("type") {
            guard let text = given.string, isMediaType(text) else {
                return .failure(.invalidProperties(["type"]))
            }
            type = text
        }
        var bytes: [UInt8] = []
        for source in sources {
            switch try self.source(source, by: &reader, &context) {
            case .success(let part):
                guard bytes.count + part.count <= limits.maxSizeBlobSet else {
                    return .failure(.tooLarge(limits.maxSizeBlobSet))
                }
                bytes += part
            case .failure(let error): return .failure(error)
            }
        }
        return .success((bytes, type))
    }

    /// A DataSourceObject.
    private static func source(
        _ value: JSONValue, by reader: inout BlobReader, _ context: inout CallContext
    ) throws(MethodError) -> Result<ArraySlice<UInt8>, SetError> {
        let invalid = Result<ArraySlice<UInt8>, SetError>.failure(.invalidProperties(["data"]))
        guard let members = value.object?.members.filter({ $0.value != .null }) else {
            return invalid
        }
        if members.count == 1, members[0].name == "data:asText" {
            return members[0].value.string.map { .success(Array($0.utf8)[...]) } ?? invalid
        }
        if members.count == 1, members[0].name == "data:asBase64" {
            return members[0].value.string.flatMap { Base64.decode($0.utf8) }
                .map { .success($0[...]) } ?? invalid
        }
        let object = JSONObject(members: members)
        guard let id = object["blobId"]?.string,
            members.allSatisfy({ ["blobId", "offset", "length"].contains($0.name) })
        else { return invalid }
        guard let blob = try context.blob(context.id(id), by: &reader) else {
            return .failure(.blobNotFound([id]))
        }
        let arguments = Arguments(object: object)
        let offset = try arguments.integer("offset", from: 0) ?? 0
        let length = try arguments.integer("length", from: 0)
        guard offset <= blob.bytes.count, length ?? 0 <= blob.bytes.count - offset else {
            return invalid
        }
        return .success(blob.bytes[offset..<(offset + (length ?? blob.bytes.count - offset))])
    }

    private static let defaultType = "application/octet-stream"

    /// - Returns: the type that a client named, if it can be one.
    static func mediaType(_ text: String) -> String {
        let type = text.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 }
        let name = String(Substring(type)).lowercased()
        return isMediaType(name) && !name.utf8.starts(with: "multipart/".utf8) ? name : defaultType
    }

    /// Visible ASCII with one slash before any parameters.
    static func isMediaType(_ text: String) -> Bool {
        let type = text.utf8.prefix { $0 != UInt8(ascii: ";") }
        let words = type.split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && words.count == 2 && words.allSatisfy { !$0.isEmpty }
            && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    // MARK: Get

    private static let properties: Set<String> = [
        "data", "data:asText", "data:asBase64", "digest:\(digest)", "size",
    ]

    @Sendable private static func get(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(["accountId", "ids", "properties", "offset", "length"])
        try arguments.checkAccount(of: context)
        guard let ids = try arguments.ids("ids", in: context) else { throw .requestTooLarge }
        let names = try arguments.strings("properties") ?? ["data", "size"]
        if let unknown = names.first(where: { !properties.contains($0) && $0 != "id" }) {
            throw .invalidArguments("A blob has no property `\(unknown)`.")
        }
        let offset = try arguments.integer("offset", from: 0) ?? 0
        let length = try arguments.integer("length", from: 0)
        var reader = BlobReader(context.mail)
        var list: [JSONValue] = []
        var missing: [String] = []
        for id in ids {
            guard let blob = try context.blob(id, by: &reader) else {
                missing.append(id)
                continue
            }
            let range = BlobRange(blob.bytes, offset: offset, length: length)
            let value = range.object(id: id, Set(names))
            try context.returns(value)
            list.append(value)
        }
        return [
            .init("accountId", .string(context.mail.account.id)), .init("list", .array(list)),
            .init("notFound", .strings(missing)),
        ]
    }
}

/// A part of a blob.
private struct BlobRange {
    private let bytes: [UInt8]
    private let size: Int
    /// Whether more was asked for than the blob has.
    private let isTruncated: Bool

    init(_ blob: [UInt8], offset: Int, length: Int?) {
        size = blob.count
        let start = min(offset, blob.count)
        let rest = blob.count - start
        bytes = Array(blob[start..<(start + min(length ?? rest, rest))])
        isTruncated = offset > blob.count || length.map { $0 > rest } ?? false
    }

    func object(id: String, _ names: Set<String>) -> JSONValue {
        var members: [JSONObject.Member] = [.init("id", .string(id))]
        let asksForText = names.contains("data:asText")
        let text =
            names.contains("data") || asksForText ? String(validating: bytes, as: UTF8.self) : nil
        // RFC 9404 §4.2: `data` is text where it can be.
        if asksForText || names.contains("data") && text != nil {
            members.append(.init("data:asText", .optional(text)))
        }
        if names.contains("data:asBase64") || names.contains("data") && text == nil {
            members.append(.init("data:asBase64", .string(Base64.encode(bytes))))
        }
        let digest = "digest:\(BlobMethods.digest)"
        if names.contains(digest) {
            members.append(.init(digest, .string(Base64.encode(SHA256.digest(bytes)))))
        }
        if names.contains("size") { members.append(.init("size", .integer(Int64(size)))) }
        if asksForText || names.contains("data"), text == nil {
            members.append(.init("isEncodingProblem", .bool(true)))
        }
        if isTruncated { members.append(.init("isTruncated", .bool(true))) }
        return .object(JSONObject(members: members))
    }
}
