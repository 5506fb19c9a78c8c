/// Encoded words of RFC 2047 where GMime's do not suffice.
enum EncodedWords {
    /// Text that its reader would take for an encoded word. GMime leaves it as it is, because it is
    /// ASCII.
    static func isImitated(by text: String) -> Bool {
        zip(text.utf8, text.utf8.dropFirst()).contains {
            $0 == UInt8(ascii: "=") && $1 == UInt8(ascii: "?")
        }
    }

    /// The text in base64, in words of at most 75 characters.
    static func encode(_ text: String) -> String {
        var words: [[UInt8]] = [[]]
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            // 45 bytes are 60 characters.
            if words[words.count - 1].count + bytes.count > 45 { words.append([]) }
            words[words.count - 1] += bytes
        }
        return words.map { word in
            let base64 = TransferCoding.base64.encode(word).filter { !ASCII.isBlank($0) }
            return "=?utf-8?B?\(String(decoding: base64, as: UTF8.self))?="
        }.joined(separator: " ")
    }

    /// Brings base64 words to the Q encoding, if one of several is padded.
    ///
    /// GMime 3.2.13 joins the base64 of adjacent words of one charset before it decodes it, so that
    /// a character may be divided, but ends at the first padding: of
    /// `=?utf-8?B?YQ==?= =?utf-8?B?Yg==?=` only the first word is left.
    static func withoutPadding(_ value: [UInt8]) -> [UInt8] {
        let words = base64Words(in: value)
        let isPadded = words.contains { value[$0.payload].last == UInt8(ascii: "=") }
        guard isPadded, words.count > 1 else { return value }
        var result: [UInt8] = []
        result.reserveCapacity(value.count * 2)
        var position = 0
        for word in words {
            result += value[position..<word.encoding]
            result += "q?".utf8
            for byte in TransferCoding.base64.decode(value[word.payload]) {
                result += [UInt8(ascii: "="), digit(byte >> 4), digit(byte & 15)]
            }
            position = word.payload.upperBound
        }
        return result + value[position...]
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }

    /// Where the letter of the encoding is, and the encoded text.
    private typealias Word = (encoding: Int, payload: Range<Int>)

    private static func base64Words(in value: [UInt8]) -> [Word] {
        var words: [Word] = []
        var position = 0
        while let start = value[position...].firstIndex(of: UInt8(ascii: "?")) {
            position = start + 1
            guard start > 0, value[start - 1] == UInt8(ascii: "="),
                let word = word(in: value, charset: position)
            else { continue }
            words.append(word)
            position = word.payload.upperBound + 2
        }
        return words
    }

    /// - Parameter charset: where the name of a charset may begin.
    private static func word(in value: [UInt8], charset: Int) -> Word? {
        let name = value[charset...].prefix(64).prefix { ASCII.isWordByte($0) }
        let rest = value[name.endIndex...]
        guard !name.isEmpty, rest.prefix(3).map(ASCII.lowered) == Array("?b?".utf8) else {
            return nil
        }
        let payload = rest.dropFirst(3).prefix {
            ASCII.lowered($0) &- 0x61 < 26 || $0 &- 0x30 < 10 || "+/=".utf8.contains($0)
        }
        guard value[payload.endIndex...].starts(with: "?=".utf8) else { return nil }
        return (name.endIndex + 1, payload.startIndex..<payload.endIndex)
    }
}
