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

    /// The decoded bytes. A `%` that begins no escape stays a `%`; the parser let none through.
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
