internal import CGMime

/// RFC 8621 §4.1.4: the value of a text part.
public struct DecodedText: Equatable, Sendable {
    /// With LF as line breaks.
    public var text: String
    /// Whether the charset is unknown, or bytes were not valid in it or in the transfer encoding.
    public var isEncodingProblem: Bool

    /// - Parameter charset: `nil` is us-ascii.
    init(_ content: [UInt8], charset: String?) {
        let name = ASCII.lowered(charset ?? "us-ascii")
        let converted: (bytes: [UInt8], hasProblem: Bool) =
            switch name {
            case "utf-8", "utf8": (content, false)
            case "us-ascii", "ascii": Self.undeclared(content)
            // WHATWG Encoding §4.2: what is labelled so is windows-1252 in fact, which has
            // characters where ISO-8859-1 has controls.
            case "iso-8859-1", "latin1", "windows-1252", "cp1252": Self.western(content)
            default: Self.convert(content, from: name) ?? (Self.undeclared(content).bytes, true)
            }
        isEncodingProblem = converted.hasProblem
        let bytes = Lines.withLF(converted.bytes)
        if let valid = String(validating: bytes, as: UTF8.self) {
            text = valid
        } else {
            text = String(decoding: bytes, as: UTF8.self)
            isEncodingProblem = true
        }
    }

    /// Text that is said to be ASCII, or whose charset is unknown: UTF-8 if it is that, otherwise
    /// windows-1252, in which any bytes are characters.
    private static func undeclared(_ content: [UInt8]) -> (bytes: [UInt8], hasProblem: Bool) {
        if content.allSatisfy({ $0 < 0x80 }) { return (content, false) }
        if String(validating: content, as: UTF8.self) != nil { return (content, true) }
        return (western(content).bytes, true)
    }

    private static func western(_ content: [UInt8]) -> (bytes: [UInt8], hasProblem: Bool) {
        convert(content, from: "windows-1252") ?? (content, true)
    }

    /// - Returns: `nil` if the C library does not know the charset.
    private static func convert(
        _ content: [UInt8], from charset: String
    ) -> (bytes: [UInt8], hasProblem: Bool)? {
        // A name with other bytes may have options of iconv.
        let isName = charset.utf8.allSatisfy { ASCII.isWordByte($0) }
        guard isName, !charset.isEmpty, charset.utf8.count <= 64 else { return nil }
        var count = 0
        var hasProblem = false
        let result = content.withUnsafeBufferPointer {
            postern_gmime_to_utf8(charset, $0.baseAddress, $0.count, &count, &hasProblem)
        }
        guard let result else { return nil }
        defer { postern_gmime_free(result) }
        return (Array(UnsafeBufferPointer(start: result, count: count)), hasProblem)
    }
}
