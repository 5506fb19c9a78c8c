/// Decoding of `application/x-www-form-urlencoded` text, in query strings and in bodies.
public enum FormCoding {
    /// The pairs of a form body, in order. Bytes that are not UTF-8 read as U+FFFD.
    public static func pairs(_ bytes: [UInt8]) -> [(name: String, value: String)] {
        pairs(bytes, in: 0..<bytes.count)
    }

    static func pairs(_ bytes: [UInt8], in range: Range<Int>) -> [(name: String, value: String)] {
        bytes[range].split(separator: UInt8(ascii: "&")).map { pair in
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let value = equals < pair.endIndex ? equals + 1..<pair.endIndex : equals..<equals
            return (text(bytes, in: pair.startIndex..<equals), text(bytes, in: value))
        }
    }

    private static func text(_ bytes: [UInt8], in range: Range<Int>) -> String {
        String(decoding: PercentCoding.decode(bytes, in: range, plusIsSpace: true), as: UTF8.self)
    }
}
