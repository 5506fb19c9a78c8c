internal import CGMime

/// What the fields of a part say about its content. Of several fields of a name the first counts.
struct ContentFields {
    private(set) var type: String
    private(set) var boundary: [UInt8]?
    private(set) var charset: String?
    private(set) var name: String?
    private(set) var disposition: String?
    private(set) var coding: TransferCoding
    /// RFC 3676 §4: `format=flowed`, and `delsp=yes`.
    private(set) var flow: TextFlow?

    private let header: HeaderFields
    private let limits: MIMELimits

    /// - Parameter defaultType: the type of a part that names none, or an invalid one.
    init(_ header: HeaderFields, defaultType: String, limits: MIMELimits) {
        self.header = header
        self.limits = limits
        type = defaultType
        coding = .identity
        readType()
        readDisposition()
        coding = value("Content-Transfer-Encoding").map { TransferCoding(named: $0) } ?? .identity
        if charset == nil, ASCII.begins(type.utf8, with: "text/") { charset = "us-ascii" }
    }

    var cid: String? {
        guard let value = value("Content-ID") else { return nil }
        let inner = value.filter { !"<> \t".utf8.contains($0) }
        return inner.isEmpty ? nil : ASCII.withoutControls(String(decoding: inner, as: UTF8.self))
    }

    /// RFC 3282 §2.
    var language: [String]? {
        guard let value = value("Content-Language") else { return nil }
        let tags = value.split(separator: UInt8(ascii: ","), maxSplits: limits.listItems)
            .prefix(limits.listItems).map(ASCII.trimmed)
            .filter { $0.allSatisfy(ASCII.isWordByte) && !$0.isEmpty }
        return tags.isEmpty ? nil : tags.map { String(decoding: $0, as: UTF8.self) }
    }

    var location: String? {
        guard let value = value("Content-Location") else { return nil }
        let joined = value.filter { !ASCII.isBlank($0) }
        return ASCII.withoutControls(String(decoding: joined, as: UTF8.self))
    }

    private mutating func readType() {
        guard let value = value("Content-Type"), hasType(value) else { return }
        withCString(value) { text in
            guard let parsed = postern_gmime_parse_type(text) else { return }
            defer { postern_gmime_free_type(parsed) }
            guard let major = postern_gmime_type(parsed), let minor = postern_gmime_subtype(parsed)
            else { return }
            type = ASCII.lowered(String(cString: major) + "/" + String(cString: minor))
            let parameter = { (name: String) in
                postern_gmime_type_parameter(parsed, name).map { String(cString: $0) }
            }
            boundary = parameter("boundary").map { Array($0.utf8) }
            charset = parameter("charset").flatMap(Self.clean)
            name = parameter("name").flatMap(Self.clean)
            if ASCII.equal((parameter("format") ?? "").utf8, "flowed".utf8) {
                let deletes = ASCII.equal((parameter("delsp") ?? "").utf8, "yes".utf8)
                flow = TextFlow(deletesSpace: deletes)
            }
        }
    }

    /// Whether the value begins with type/subtype. For GMime another value is an octet stream; for
    /// RFC 2045 §5.2 it is text.
    private func hasType(_ value: ArraySlice<UInt8>) -> Bool {
        let major = value.prefix(while: ASCII.isWordByte)
        let rest = value[major.endIndex...].drop(while: ASCII.isWhite)
        let minor = rest.dropFirst().drop(while: ASCII.isWhite).prefix(while: ASCII.isWordByte)
        return !major.isEmpty && rest.first == UInt8(ascii: "/") && !minor.isEmpty
    }

    private mutating func readDisposition() {
        guard let value = value("Content-Disposition") else { return }
        withCString(value) { text in
            guard let parsed = postern_gmime_parse_disposition(text) else { return }
            defer { postern_gmime_free_disposition(parsed) }
            disposition = postern_gmime_disposition(parsed)
                .map { ASCII.lowered(String(cString: $0)) }.flatMap(Self.clean)
            let file = postern_gmime_disposition_parameter(parsed, "filename")
            name = file.map { String(cString: $0) }.flatMap(Self.clean) ?? name
        }
    }

    /// The first field of the name, unfolded, without white space around it.
    private func value(_ name: String) -> ArraySlice<UInt8>? {
        guard let field = header.fields.first(where: { $0.isNamed(name) }),
            field.rawBytes.count <= limits.contentFieldBytes
        else { return nil }
        let value = ASCII.trimmed(field.unfolded[...])
        return value.isEmpty ? nil : value
    }

    private static func clean(_ text: String) -> String? {
        text.isEmpty ? nil : ASCII.withoutControls(text)
    }
}
