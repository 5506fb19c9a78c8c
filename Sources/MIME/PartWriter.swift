internal import CGMime

/// Writes the fields that describe a content, and the content.
struct PartWriter {
    private let uniqueId: String
    private let limits = MIMELimits.standard
    private var count = 0
    private var boundaries = 0

    init(uniqueId: String) {
        self.uniqueId = uniqueId
    }

    /// - Returns: header, empty line and content.
    mutating func write(_ part: DraftPart, depth: Int) throws(MIMEError) -> [UInt8] {
        count += 1
        guard count <= limits.parts else { throw .tooManyParts }
        let type = try splitType(part.type)
        guard case .parts(let children) = part.content else {
            guard type.major != "multipart" else { throw .invalidValue("type") }
            return try writeLeaf(part, type)
        }
        guard type.major == "multipart", !children.isEmpty else { throw .invalidValue("type") }
        guard depth < limits.depth else { throw .tooManyParts }
        boundaries += 1
        // No line of a quoted-printable or base64 content has `=_`, and no line of a 7bit text
        // begins with it. A message within this one does not know the id.
        let boundary = "=_\(uniqueId)_\(boundaries)"
        var header = HeaderWriter()
        try header.write(
            name: "Content-Type", encoded: encode(type, ["boundary": boundary]))
        try writeFields(of: part, to: &header)
        var result = header.bytes + Self.lineBreak
        for child in children {
            result += Array("--\(boundary)\r\n".utf8)
            result += try write(child, depth: depth + 1)
            result += Self.lineBreak
        }
        return result + Array("--\(boundary)--\r\n".utf8)
    }

    private static let lineBreak: [UInt8] = [ASCII.carriageReturn, ASCII.lineFeed]

    private typealias MediaType = (major: String, minor: String)

    private func splitType(_ type: String) throws(MIMEError) -> MediaType {
        let words = ASCII.lowered(type).utf8
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard words.count == 2, type.utf8.count <= 255,
            words.allSatisfy({ !$0.isEmpty && $0.allSatisfy(ASCII.isWordByte) })
        else { throw .invalidValue("type") }
        return (String(words[0]) ?? "", String(words[1]) ?? "")
    }

    private func writeLeaf(_ part: DraftPart, _ type: MediaType) throws(MIMEError) -> [UInt8] {
        var parameters: [String: String] = [:]
        let coded: CodedContent
        switch part.content {
        case .text(let text):
            guard type.major == "text" else { throw .invalidValue("type") }
            parameters["charset"] = "utf-8"
            coded = CodedContent(text: text)
        case .bytes(let bytes):
            if let charset = part.charset {
                guard !charset.isEmpty, charset.utf8.allSatisfy(ASCII.isWordByte) else {
                    throw .invalidValue("charset")
                }
                parameters["charset"] = charset
            }
            coded =
                type == ("message", "rfc822")
                ? CodedContent(message: bytes) : CodedContent(bytes: bytes)
        case .parts: throw .invalidValue("type")
        }
        if let name = part.name, part.disposition == nil { parameters["name"] = name }
        try HeaderWriter.check(part.name ?? "", of: "name")
        var header = HeaderWriter()
        try header.write(name: "Content-Type", encoded: encode(type, parameters))
        try header.write(DraftField("Content-Transfer-Encoding", .raw(coded.name)))
        try writeFields(of: part, to: &header)
        return header.bytes + Self.lineBreak + coded.bytes
    }

    private func encode(_ type: MediaType, _ parameters: [String: String]) -> String? {
        guard let handle = postern_gmime_new_type(type.major, type.minor) else { return nil }
        defer { postern_gmime_free_type(handle) }
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            postern_gmime_set_type_parameter(handle, name, value)
        }
        return taken(postern_gmime_encode_type(handle))
    }

    private func writeFields(
        of part: DraftPart, to header: inout HeaderWriter
    ) throws(MIMEError) {
        if let disposition = part.disposition {
            guard !disposition.isEmpty, disposition.utf8.allSatisfy(ASCII.isWordByte) else {
                throw .invalidValue("disposition")
            }
            try HeaderWriter.check(part.name ?? "", of: "name")
            try header.write(
                name: "Content-Disposition", encoded: encode(disposition, name: part.name))
        }
        if let cid = part.cid { try header.write(DraftField("Content-ID", .messageIds([cid]))) }
        if let tags = part.language {
            guard !tags.isEmpty,
                tags.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(ASCII.isWordByte) })
            else { throw .invalidValue("language") }
            try header.write(
                DraftField("Content-Language", .raw(tags.joined(separator: ", "))))
        }
        if let location = part.location {
            let isURL = location.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            guard isURL, !location.isEmpty else { throw .invalidValue("location") }
            try header.write(DraftField("Content-Location", .raw(location)))
        }
        let own = [
            "content-type", "content-transfer-encoding", "content-disposition", "content-id",
            "content-language", "content-location", "mime-version",
        ]
        for field in part.fields {
            guard !own.contains(ASCII.lowered(field.name)) else {
                throw .invalidFieldName(field.name)
            }
            try header.write(field)
        }
    }

    private func encode(_ disposition: String, name: String?) -> String? {
        guard let handle = postern_gmime_new_disposition(disposition) else { return nil }
        defer { postern_gmime_free_disposition(handle) }
        if let name { postern_gmime_set_disposition_parameter(handle, "filename", name) }
        return taken(postern_gmime_encode_disposition(handle))
    }
}

/// A content with the transfer encoding that suits it.
struct CodedContent {
    /// The Content-Transfer-Encoding.
    let name: String
    let bytes: [UInt8]

    /// 7bit where that is possible, otherwise what is shorter.
    init(text: String) {
        let text = Lines.withLF(Array(text.utf8))
        let isVerbatim =
            text.allSatisfy { $0 < 0x80 && $0 != 0 }
            && text.split(separator: ASCII.lineFeed).allSatisfy {
                $0.count <= 998 && !$0.starts(with: "--=_".utf8)
            }
        if isVerbatim {
            self.init(name: "7bit", bytes: Lines.withCRLF(text))
        } else if text.count(where: { $0 >= 0x80 || $0 == UInt8(ascii: "=") }) <= text.count / 6 {
            self.init(name: "quoted-printable", bytes: TransferCoding.quotedPrintable.encode(text))
        } else {
            let bytes = TransferCoding.base64.encode(Lines.withCRLF(text))
            self.init(name: "base64", bytes: bytes)
        }
    }

    init(bytes: [UInt8]) {
        self.init(name: "base64", bytes: TransferCoding.base64.encode(bytes))
    }

    /// RFC 2046 §5.2.1: such a message is not encoded. If that is impossible, it is all the same.
    init(message: [UInt8]) {
        let lines = Lines.withLF(message)
        if lines.contains(0) || !Self.hasShortLines(lines) {
            self.init(bytes: message)
        } else {
            let isASCII = lines.allSatisfy { $0 < 0x80 }
            self.init(name: isASCII ? "7bit" : "8bit", bytes: Lines.withCRLF(lines))
        }
    }

    private init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    private static func hasShortLines(_ text: [UInt8]) -> Bool {
        text.split(separator: ASCII.lineFeed).allSatisfy { $0.count <= 998 }
    }
}
