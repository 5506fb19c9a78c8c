/// The bytes of a JSON text under construction: scalars, escaping and commas.
struct JSONOutput {
    var bytes: [UInt8] = []
    private var needsComma = false

    /// Writes the comma between two members or elements, and remembers that there now is one.
    mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    mutating func open(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = false
    }

    mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    mutating func name(_ name: String) {
        separate()
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func literal(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func bool(_ value: Bool) {
        literal(value ? "true" : "false")
    }

    mutating func integer(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[start...].reverse()
    }

    mutating func string(_ value: String) {
        var value = value
        bytes.append(UInt8(ascii: "\""))
        value.withUTF8 { text in
            var plain = 0
            for index in text.indices where Self.mustBeEscaped(text[index]) {
                bytes.append(contentsOf: text[plain..<index])
                escape(text[index])
                plain = index + 1
            }
            bytes.append(contentsOf: text[plain...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// RFC 8259 §7: these and no others must be escaped.
    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): literal("\\\"")
        case UInt8(ascii: "\\"): literal("\\\\")
        case 0x0A: literal("\\n")
        case 0x0D: literal("\\r")
        case 0x09: literal("\\t")
        default:
            let digits: StaticString = "0123456789abcdef"
            literal("\\u00")
            bytes.append(digits.utf8Start[Int(byte >> 4)])
            bytes.append(digits.utf8Start[Int(byte & 0x0F)])
        }
    }
}
