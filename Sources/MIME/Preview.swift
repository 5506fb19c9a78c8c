/// RFC 8621 §4.1.4: the beginning of a message's text.
enum Preview {
    static let characters = 256
    /// The part of a text that is looked at.
    static let textBytes = 65_536

    static func beginning(of text: String, bytes: Int) -> String {
        text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
    }

    /// White space becomes single spaces, and control characters are left out. Characters are
    /// Unicode scalars: a grapheme cluster has no greatest length.
    static func of(_ text: String) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(characters)
        var count = 0
        var isSeparated = false
        for scalar in text.unicodeScalars {
            // Most characters of most texts, of which no property need be looked up.
            let isPrintableASCII = (0x21...0x7E).contains(scalar.value)
            if !isPrintableASCII {
                if scalar == " " || scalar.properties.isWhitespace {
                    isSeparated = count > 0
                    continue
                }
                if isInvisible(scalar) { continue }
            }
            if isSeparated {
                guard count + 1 < characters else { break }
                result.append(UInt8(ascii: " "))
                count += 1
                isSeparated = false
            }
            guard count < characters else { break }
            result += scalar.utf8
            count += 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Senders fill previews with these; U+034F and U+200C to U+200F among them.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x034F, 0x00AD, 0x061C, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF, 0x202A...0x202E,
            0x2066...0x2069:
            true
        default: scalar.properties.generalCategory == .control
        }
    }
}
