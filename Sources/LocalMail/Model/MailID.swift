/// The text of ids and states: a letter and a number in hexadecimal, at most 15 bytes.
///
/// The numbers of an account begin at a random one. An id or a state of an earlier process is
/// therefore unknown, and never taken for another one. An id is valid in its account only.
enum MailID {
    enum Kind: UInt8 {
        case message = 0x4D  // M
        case thread = 0x54  // T
        case folder = 0x46  // F
        case blob = 0x42  // B
        case submission = 0x53  // S
        case identity = 0x49  // I
        case state = 0x73  // s
    }

    static func text(_ kind: Kind, _ number: UInt64) -> String {
        let digits = max(1, (UInt64.bitWidth - number.leadingZeroBitCount + 3) / 4)
        return String(unsafeUninitializedCapacity: 1 + digits) { text in
            text[0] = kind.rawValue
            var rest = number
            for index in (1...digits).reversed() {
                let digit = UInt8(rest & 0xF)
                text[index] = digit < 10 ? 0x30 + digit : 0x61 + digit - 10
                rest >>= 4
            }
            return 1 + digits
        }
    }

    /// - Returns: `nil` for every text that ``text(_:_:)`` does not give.
    static func number(_ kind: Kind, _ text: String) -> UInt64? {
        var bytes = text.utf8.makeIterator()
        guard bytes.next() == kind.rawValue, text.utf8.count <= 17 else { return nil }
        var number: UInt64 = 0
        var isFirst = true
        while let byte = bytes.next() {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x61...0x66: digit = byte - 0x61 + 10
            default: return nil
            }
            if isFirst, digit == 0 { return nil }
            isFirst = false
            number = number << 4 | UInt64(digit)
        }
        return isFirst ? nil : number
    }

    /// The first number of an account, of 52 bits.
    static func start(random: UInt64) -> UInt64 { (random >> 32 | 1 << 31) << 20 }
}
