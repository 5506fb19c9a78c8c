/// Percent-decoding of path segments and query strings (RFC 3986 §2.1).
enum PercentCoding {
    static func isEscape(_ bytes: [UInt8], at index: Int, before end: Int) -> Bool {
        index + 2 < end && ASCII.hexValue(bytes[index + 1]) != nil
            && ASCII.hexValue(bytes[index + 2]) != nil
    }

    /// Whether the text decodes to UTF-8 without NUL.
    static func isDecodable(_ bytes: [UInt8], in range: Range<Int>) -> Bool {
        let decoded = decode(bytes, in: range, plusIsSpace: false)
        return !decoded.contains(0) && String(validating: decoded, as: UTF8.self) != nil
    }

    /// The decoded bytes. A `%` that does not begin an escape stays; in a path the parser rejects
    /// it.
    static func decode(_ bytes: [UInt8], in range: Range<Int>, plusIsSpace: Bool) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < range.upperBound,
                let high = ASCII.hexValue(bytes[index + 1]),
                let low = ASCII.hexValue(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
                index += 1
            }
        }
        return decoded
    }
}

/// Decoding of `application/x-www-form-urlencoded` text, in query strings and in bodies.
public enum FormCoding {
    /// The pairs of a form body, in order. Bytes of values that are not UTF-8 become U+FFFD, and
    /// so do bytes of names that are not ASCII.
    /// - Returns: `nil` for more pairs than `limit`.
    public static func pairs(
        _ bytes: [UInt8], atMost limit: Int = 100
    ) -> [(name: String, value: String)]? {
        let count = bytes.split(separator: UInt8(ascii: "&")).count
        return count > limit ? nil : pairs(bytes, in: 0..<bytes.count)
    }

    static func pairs(_ bytes: [UInt8], in range: Range<Int>) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        var start = range.lowerBound
        while start < range.upperBound {
            let end = index(of: UInt8(ascii: "&"), in: bytes, start..<range.upperBound)
            if start < end {
                let equals = index(of: UInt8(ascii: "="), in: bytes, start..<end)
                let value = min(equals + 1, end)..<end
                pairs.append((name(bytes, in: start..<equals), text(bytes, in: value)))
            }
            start = end + 1
        }
        return pairs
    }

    /// Of the first such byte; the end of the range without one.
    private static func index(of byte: UInt8, in bytes: [UInt8], _ range: Range<Int>) -> Int {
        bytes[range].firstIndex(of: byte) ?? range.upperBound
    }

    private static func name(_ bytes: [UInt8], in range: Range<Int>) -> String {
        ASCII.name(PercentCoding.decode(bytes, in: range, plusIsSpace: true))
    }

    private static func text(_ bytes: [UInt8], in range: Range<Int>) -> String {
        String(decoding: PercentCoding.decode(bytes, in: range, plusIsSpace: true), as: UTF8.self)
    }
}
