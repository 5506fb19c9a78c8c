extension JSONReader {
    /// Reads a string from its opening to its closing quote (RFC 8259 §7).
    mutating func string() throws(JSONFault) -> String {
        let start = index
        index += 1
        let content = index
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                let text = try text(bytes[content..<index], from: start)
                index += 1
                return text
            case UInt8(ascii: "\\"):
                return try escapedString(from: start)
            case 0x00..<0x20:
                throw fault(.controlCharacter)
            default:
                index += 1
            }
        }
        throw fault(.unexpectedEnd)
    }

    /// Goes on from the first backslash of the string that opened at `start`.
    private mutating func escapedString(from start: Int) throws(JSONFault) -> String {
        var content = Array(bytes[(start + 1)..<index])
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return try text(content[...], from: start)
            case UInt8(ascii: "\\"):
                try escape(into: &content)
            case 0x00..<0x20:
                throw fault(.controlCharacter)
            default:
                content.append(byte)
                index += 1
            }
        }
        throw fault(.unexpectedEnd)
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONFault) {
        let start = index
        index += 1
        guard let letter = peek else { throw fault(.unexpectedEnd) }
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(letter)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content.append(contentsOf: try unicodeEscape(from: start))
        default: throw fault(.invalidEscape, at: start)
        }
    }

    /// Reads the digits of `\uXXXX`, and those of the second half where the first is a surrogate.
    private mutating func unicodeEscape(from start: Int) throws(JSONFault) -> UTF8.EncodedScalar {
        let first = try fourHexDigits(from: start)
        var units = [first]
        if UTF16.isLeadSurrogate(first) {
            guard peek == UInt8(ascii: "\\"), index + 1 < bytes.count,
                bytes[index + 1] == UInt8(ascii: "u")
            else { throw fault(.loneSurrogate, at: start) }
            index += 2
            units.append(try fourHexDigits(from: start))
        }
        guard let pair = String(validating: units, as: UTF16.self),
            let scalar = pair.unicodeScalars.first, let encoded = UTF8.encode(scalar)
        else { throw fault(.loneSurrogate, at: start) }
        return encoded
    }

    private mutating func fourHexDigits(from start: Int) throws(JSONFault) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek else { throw fault(.unexpectedEnd) }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw fault(.invalidEscape, at: start)
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    /// Overlong forms, surrogates and code points past U+10FFFF are refused, never replaced.
    private func text(_ content: ArraySlice<UInt8>, from start: Int) throws(JSONFault) -> String {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw fault(.invalidUTF8, at: start)
        }
        return text
    }
}
