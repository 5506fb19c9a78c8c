internal import CGMime

/// A Content-Transfer-Encoding (RFC 2045 §6).
enum TransferCoding: Equatable, Sendable {
    /// 7bit, 8bit or binary.
    case identity
    case base64, quotedPrintable, uuencode
    /// Not a known one; the content is left as it is.
    case unknown

    init(named value: ArraySlice<UInt8>) {
        let name = value.prefix { ASCII.isWordByte($0) }.map(ASCII.lowered)
        self =
            switch String(decoding: name, as: UTF8.self) {
            case "", "7bit", "8bit", "binary": .identity
            case "base64": .base64
            case "quoted-printable": .quotedPrintable
            case "x-uuencode", "x-uue", "uuencode": .uuencode
            default: .unknown
            }
    }

    /// Decodes a content. What is not valid is left out or taken as it is.
    func decode(_ content: ArraySlice<UInt8>) -> [UInt8] {
        switch self {
        case .identity, .unknown: Array(content)
        case .base64: recode(postern_base64, encoding: false, content)
        case .quotedPrintable: recode(postern_quoted_printable, encoding: false, content)
        case .uuencode: recode(postern_uuencode, encoding: false, Self.afterBegin(content))
        }
    }

    /// - Parameter content: if it is text for quoted-printable, its lines end with LF.
    /// - Returns: text whose lines end with CRLF.
    func encode(_ content: [UInt8]) -> [UInt8] {
        switch self {
        case .base64: Lines.withCRLF(recode(postern_base64, encoding: true, content[...]))
        case .quotedPrintable:
            Lines.withCRLF(recode(postern_quoted_printable, encoding: true, content[...]))
        case .identity, .uuencode, .unknown: content
        }
    }

    /// What follows the line `begin 644 name`. GMime's decoder expects that.
    private static func afterBegin(_ content: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var lines = LineScanner(Array(content), end: content.count)
        while let line = lines.next() {
            if lines.bytes[line].starts(with: "begin ".utf8) {
                return content.dropFirst(lines.position)
            }
        }
        return content
    }

    private func recode(
        _ coding: postern_coding, encoding: Bool, _ content: ArraySlice<UInt8>
    ) -> [UInt8] {
        content.withUnsafeBufferPointer { buffer in
            var count = 0
            let result = postern_gmime_recode(
                coding, encoding, buffer.baseAddress, buffer.count, &count)
            guard let result else { return [] }
            defer { postern_gmime_free(result) }
            return Array(UnsafeBufferPointer(start: result, count: count))
        }
    }
}

/// Line breaks of text.
enum Lines {
    /// Every CRLF, CR and LF becomes LF.
    static func withLF(_ text: [UInt8]) -> [UInt8] {
        guard text.contains(ASCII.carriageReturn) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var follows = false
        for byte in text {
            if byte == ASCII.carriageReturn {
                result.append(ASCII.lineFeed)
            } else if byte != ASCII.lineFeed || !follows {
                result.append(byte)
            }
            follows = byte == ASCII.carriageReturn
        }
        return result
    }

    /// Every CRLF, CR and LF becomes CRLF.
    static func withCRLF(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count + text.count / 32)
        for byte in withLF(text) {
            if byte == ASCII.lineFeed { result.append(ASCII.carriageReturn) }
            result.append(byte)
        }
        return result
    }
}
