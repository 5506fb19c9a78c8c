/// Encoded words of RFC 2047 as GMime can read them.
///
/// GMime 3.2.13 joins the base64 of adjacent words of one charset before it decodes it, so that a
/// character may be divided, but ends at the first padding: of `=?utf-8?B?YQ==?= =?utf-8?B?Yg==?=`
/// only the first word is left. It has no such fault with the Q encoding.
enum EncodedWords {
    /// Brings base64 words to the Q encoding, if one of them is padded.
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
