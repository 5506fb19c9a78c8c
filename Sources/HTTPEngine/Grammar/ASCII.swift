/// The character classes of HTTP and operations on ASCII letters and digits. Switches, because the
/// compiler turns them into bit tests.
enum ASCII {
    /// RFC 9110 §5.6.2: the characters of methods and field names.
    static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"),
            UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            return true
        default: return false
        }
    }

    /// RFC 3986 §3.3 and §3.4: the characters of path and query. `#`, `[`, `|` and `"` are not
    /// among them.
    static func isTarget(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "?")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "$")...UInt8(ascii: ";"), UInt8(ascii: "!"), UInt8(ascii: "="),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            return true
        default: return false
        }
    }

    /// RFC 3986 §3.2.2: the characters of a registered name or IPv4 address. Percent escapes are
    /// left out: no name that resolves has one.
    static func isHostName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            return true
        default: return false
        }
    }

    /// RFC 9110 §5.5: visible characters, SP, HTAB, and obs-text, which is passed on unread.
    static func isFieldValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7f || byte == 0x09
    }

    /// Whether a text consists of field-value characters. The loop does not stop at the first other
    /// byte, so that the compiler checks sixteen bytes at a time: a token has hundreds.
    static func areFieldValue(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var invalid: UInt8 = 0
            for byte in bytes { invalid |= isFieldValue(byte) ? 0 : 1 }
            return invalid == 0
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    static func lowered(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let low = byte | 0x20
        return low &- 0x61 < 6 ? low &- 0x57 : nil
    }

    static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && left.utf8.elementsEqual(right.utf8) { lowered($0) == lowered($1) }
    }

    /// The text of ASCII, with U+FFFD for each other byte.
    static func name(_ bytes: [UInt8]) -> String {
        if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
        var text = String.UnicodeScalarView()
        for byte in bytes { text.append(byte < 0x80 ? Unicode.Scalar(byte) : "\u{FFFD}") }
        return String(text)
    }

    /// Whether the bytes of `range` equal `text`, regardless of case.
    static func equalIgnoringCase(_ bytes: [UInt8], _ range: Range<Int>, _ text: String) -> Bool {
        let text = text.utf8
        guard range.count == text.count else { return false }
        var index = range.lowerBound
        for byte in text {
            guard lowered(bytes[index]) == lowered(byte) else { return false }
            index += 1
        }
        return true
    }

    /// Whether the bytes equal `text`, regardless of case.
    static func equalIgnoringCase(_ bytes: ArraySlice<UInt8>, _ text: String) -> Bool {
        bytes.count == text.utf8.count
            && bytes.elementsEqual(text.utf8) { lowered($0) == lowered($1) }
    }
}
