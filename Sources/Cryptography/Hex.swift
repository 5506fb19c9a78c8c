/// Hexadecimal text (RFC 4648 §8), written in lower case and read in either.
public enum Hex {
    private static let digits: StaticString = "0123456789abcdef"

    public static func encode(_ bytes: [UInt8]) -> String {
        let digits = digits.utf8Start
        return String(unsafeUninitializedCapacity: bytes.count * 2) { target in
            for (index, byte) in bytes.enumerated() {
                target[index * 2] = digits[Int(byte >> 4)]
                target[index * 2 + 1] = digits[Int(byte & 0x0F)]
            }
            return bytes.count * 2
        }
    }

    /// `nil` for an odd number of digits and for anything that is not a digit.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        if let bytes = text.withContiguousStorageIfAvailable({ decode($0) }) { return bytes }
        return Array(text).withUnsafeBufferPointer { decode($0) }
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = value(of: text[index]), let low = value(of: text[index + 1]) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
