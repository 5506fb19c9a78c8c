/// `host[:port]` of a Host field or an absolute-form target (RFC 9110 §7.2). User information is
/// not allowed (§4.2.4), nor is an empty host (§4.2.1).
enum Authority {
    static func isValid(_ bytes: [UInt8], in range: Range<Int>) -> Bool {
        guard let first = range.first.map({ bytes[$0] }) else { return false }
        var index = range.lowerBound
        if first == UInt8(ascii: "[") {
            index += 1
            while index < range.upperBound, isAddress(bytes[index]) { index += 1 }
            guard index > range.lowerBound + 2, index < range.upperBound,
                bytes[index] == UInt8(ascii: "]")
            else { return false }
            index += 1
        } else {
            while index < range.upperBound, ASCII.isHostName(bytes[index]) { index += 1 }
            guard index > range.lowerBound, index - range.lowerBound <= 255 else { return false }
        }
        guard index < range.upperBound else { return true }
        guard bytes[index] == UInt8(ascii: ":") else { return false }
        return isPort(bytes[(index + 1)..<range.upperBound])
    }

    private static func isAddress(_ byte: UInt8) -> Bool {
        ASCII.hexValue(byte) != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
    }

    /// Empty is allowed (RFC 3986 §3.2.3).
    private static func isPort(_ digits: ArraySlice<UInt8>) -> Bool {
        guard digits.count <= 5, digits.allSatisfy(ASCII.isDigit) else { return false }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) } <= 65_535
    }
}
