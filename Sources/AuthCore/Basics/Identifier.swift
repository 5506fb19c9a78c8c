/// The identifier of one `Kind` of record: a random UUID (RFC 9562 version 4) in lower-case text.
/// It never changes. Identifiers of different kinds are different types.
public struct Identifier<Kind>: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// - Returns: `nil` unless `text` is a UUID in the 8-4-4-4-12 form; either case is taken.
    public init?(_ text: String) {
        var text = text
        let hasUpperCase: Bool? = text.withUTF8 { bytes in
            guard bytes.count == 36 else { return nil }
            var found = false
            for (index, byte) in bytes.enumerated() {
                switch index {
                case 8, 13, 18, 23: guard byte == UInt8(ascii: "-") else { return nil }
                default:
                    guard isHexDigit(byte) else { return nil }
                    if byte < UInt8(ascii: "a"), byte > UInt8(ascii: "9") { found = true }
                }
            }
            return found
        }
        guard let hasUpperCase else { return nil }
        self.text = hasUpperCase ? text.lowercased() : text
    }

    /// - Parameter random: 16 random bytes; six of their bits are overwritten by version and
    ///   variant.
    public init(random: [UInt8]) {
        precondition(random.count == 16)
        var bytes = random
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Array("0123456789abcdef".utf8)
        var out: [UInt8] = []
        out.reserveCapacity(36)
        for (index, byte) in bytes.enumerated() {
            if [4, 6, 8, 10].contains(index) { out.append(UInt8(ascii: "-")) }
            out.append(digits[Int(byte >> 4)])
            out.append(digits[Int(byte & 0x0f)])
        }
        text = String(decoding: out, as: UTF8.self)
    }

    public var description: String { text }
}

private func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        true
    default: false
    }
}
