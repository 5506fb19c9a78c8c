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
        var written = 0
        var rest = bytes[...]
        func put(_ group: UInt32, _ count: Int) {
            for place in 0..<count {
                target[written] = digits[Int(group >> (18 - 6 * UInt32(place)) & 0x3F)]
                written += 1
            }
        }
        while rest.count >= 3 {
            let at = rest.startIndex
            put(UInt32(rest[at]) << 16 | UInt32(rest[at + 1]) << 8 | UInt32(rest[at + 2]), 4)
            rest = rest.dropFirst(3)
        }
        if let first = rest.first {
            let second = rest.count == 2 ? rest[rest.startIndex + 1] : 0
            put(UInt32(first) << 16 | UInt32(second) << 8, rest.count + 1)
        }
        return written
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        if text.count % 4 == 1 { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var pending: UInt32 = 0
        var bits = 0
        for byte in text {
            guard let sextet = value(of: byte) else { return nil }
            pending = pending << 6 | sextet
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
                pending &= (1 << UInt32(bits)) - 1
            }
        }
        return pending == 0 ? bytes : nil
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
