/// Base64 with the URL-safe alphabet and without padding (RFC 4648 §5, RFC 7515 §2).
public enum Base64URL {
    private static let alphabet: StaticString =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

    public static func encode(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: encodedCount(bytes.count)) { target in
            bytes.withUnsafeBufferPointer { fill(target, from: $0) }
        }
    }

    public static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let encoded = [UInt8](unsafeUninitializedCapacity: encodedCount(bytes.count)) {
            target, count in
            count = bytes.withUnsafeBufferPointer { fill(target, from: $0) }
        }
        text.append(contentsOf: encoded)
    }

    /// The bytes that encode to exactly this text, or `nil`.
    ///
    /// Padding, white space, `+` and `/` of the standard alphabet, and trailing bits that are not
    /// zero are errors: each would give one token several texts.
    public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        text.withUnsafeBufferPointer { decode($0) }
    }

    /// As ``decode(_:)-(ArraySlice<UInt8>)``, which takes less time: it is not generic.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        if let bytes = text.withContiguousStorageIfAvailable({ decode($0) }) { return bytes }
        return Array(text).withUnsafeBufferPointer { decode($0) }
    }

    private static func encodedCount(_ count: Int) -> Int {
        (count * 4 + 2) / 3
    }

    private static func fill(
        _ target: UnsafeMutableBufferPointer<UInt8>, from bytes: UnsafeBufferPointer<UInt8>
    ) -> Int {
        let digits = alphabet.utf8Start
        var (read, written) = (0, 0)
        while read + 3 <= bytes.count {
            let group =
                UInt32(bytes[read]) << 16 | UInt32(bytes[read + 1]) << 8 | UInt32(bytes[read + 2])
            target[written] = digits[Int(group >> 18)]
            target[written + 1] = digits[Int(group >> 12 & 0x3F)]
            target[written + 2] = digits[Int(group >> 6 & 0x3F)]
            target[written + 3] = digits[Int(group & 0x3F)]
            (read, written) = (read + 3, written + 4)
        }
        guard read < bytes.count else { return written }
        let hasTwo = read + 2 == bytes.count
        let last = UInt32(bytes[read]) << 16 | (hasTwo ? UInt32(bytes[read + 1]) << 8 : 0)
        target[written] = digits[Int(last >> 18)]
        target[written + 1] = digits[Int(last >> 12 & 0x3F)]
        guard hasTwo else { return written + 2 }
        target[written + 2] = digits[Int(last >> 6 & 0x3F)]
        return written + 3
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        if text.count % 4 == 1 { return nil }
        var pending: UInt32 = 0
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3 + 2) {
            target, written in
            var bits = 0
            for byte in text {
                guard let sextet = value(of: byte) else {
                    isValid = false
                    return
                }
                pending = pending << 6 | sextet
                bits += 6
                if bits >= 8 {
                    bits -= 8
                    target[written] = UInt8(truncatingIfNeeded: pending >> UInt32(bits))
                    written += 1
                    pending &= (1 << UInt32(bits)) - 1
                }
            }
        }
        return isValid && pending == 0 ? bytes : nil
    }

    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// Base64 with the standard alphabet (RFC 4648 §4).
public enum Base64 {
    /// With padding.
    public static func encode(_ bytes: [UInt8]) -> String {
        var text = Base64URL.encode(bytes).utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes that encode to exactly this text, with its padding or without; `nil` for any other
    /// text.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var digits = Array(text)
        let isPadded = digits.count % 4 == 0
        for _ in 0..<2 where isPadded && digits.last == UInt8(ascii: "=") { digits.removeLast() }
        return decode(unpadded: digits)
    }

    /// As ``decode(_:)``, for a text without padding.
    static func decode(unpadded text: some Collection<UInt8>) -> [UInt8]? {
        // The two characters of the URL-safe alphabet become 0, which neither alphabet has.
        Base64URL.decode(
            text.map { byte in
                switch byte {
                case UInt8(ascii: "+"): UInt8(ascii: "-")
                case UInt8(ascii: "/"): UInt8(ascii: "_")
                case UInt8(ascii: "-"), UInt8(ascii: "_"): 0
                default: byte
                }
            })
    }
}
