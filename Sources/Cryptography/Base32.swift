/// Base32 without padding (RFC 4648 §6).
public enum Base32 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    public static func encode(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity((bytes.count * 8 + 4) / 5)
        var (pending, bits): (UInt32, UInt32) = (0, 0)
        for byte in bytes {
            pending = (pending << 8 | UInt32(byte)) & 0xFFF
            bits += 8
            while bits >= 5 {
                bits -= 5
                digits.append(alphabet[Int(pending >> bits & 0x1F)])
            }
        }
        if bits > 0 { digits.append(alphabet[Int(pending << (5 - bits) & 0x1F)]) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// The bytes that encode to exactly this text, or `nil`.
    public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (pending, bits): (UInt32, UInt32) = (0, 0)
        for digit in text {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            pending = (pending << 5 | UInt32(value)) & 0xFFF
            bits += 5
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
            }
        }
        // A digit too many, or bits that are not zero, would give the bytes a second text.
        guard bits < 5, pending & ((1 << bits) - 1) == 0 else { return nil }
        return bytes
    }
}
