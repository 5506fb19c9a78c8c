/// The character classes of HTTP, one table look-up each.
enum Octet {
    private static let tokenBit: UInt8 = 1
    private static let valueBit: UInt8 = 2
    private static let targetBit: UInt8 = 4

    private static let classes: [UInt8] = {
        var classes = [UInt8](repeating: 0, count: 256)
        let letters = Array(UInt8(ascii: "a")...UInt8(ascii: "z"))
        let capitals = Array(UInt8(ascii: "A")...UInt8(ascii: "Z"))
        let digits = Array(UInt8(ascii: "0")...UInt8(ascii: "9"))
        for byte in letters + capitals + digits { classes[Int(byte)] = tokenBit | targetBit }
        // RFC 9110 §5.6.2.
        for byte in "!#$%&'*+-.^_`|~".utf8 { classes[Int(byte)] |= tokenBit }
        // RFC 3986 §3.3 and §3.4: pchar, "/", "?" and the "%" of an escape.
        for byte in "-._~!$&'()*+,;=:@/?%".utf8 { classes[Int(byte)] |= targetBit }
        // RFC 9110 §5.5: visible, SP, HTAB, and obs-text, which is passed on as opaque octets.
        for byte in 0x20...0xff where byte != 0x7f { classes[byte] |= valueBit }
        classes[9] |= valueBit
        return classes
    }()

    static func isToken(_ byte: UInt8) -> Bool { classes[Int(byte)] & tokenBit != 0 }
    static func isFieldValue(_ byte: UInt8) -> Bool { classes[Int(byte)] & valueBit != 0 }
    static func isTarget(_ byte: UInt8) -> Bool { classes[Int(byte)] & targetBit != 0 }
    static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    static func lowered(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    static func hexValue(_ byte: UInt8) -> UInt8? {
        if byte &- 0x30 < 10 { return byte &- 0x30 }
        let low = byte | 0x20
        return low &- 0x61 < 6 ? low &- 0x57 : nil
    }
}

extension Octet {
    static func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && left.utf8.elementsEqual(right.utf8) { lowered($0) == lowered($1) }
    }
}
