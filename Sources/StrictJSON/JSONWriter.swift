/// Writes the members of one JSON object, in the order of the calls.
///
/// Guarantees: the output is JSON that `JSONValue.parse` reads, if no name is written twice. That
/// is not checked, because the names are the program's own. There is no overload for `Double`, so
/// no number can be infinite. Parsed numbers are finite.
public struct JSONWriter {
    fileprivate var output = JSONOutput()

    /// The JSON text of an object.
    /// - Parameter capacity: the bytes to reserve.
    public static func object(
        capacity: Int = 512, _ fill: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.output.bytes.reserveCapacity(capacity)
        writer.braces(fill)
        return writer.output.bytes
    }

    public mutating func member(_ name: String, _ value: String) {
        output.name(name)
        output.string(value)
    }

    /// Writes `null` when there is no value.
    public mutating func member(_ name: String, _ value: String?) {
        output.name(name)
        if let value { output.string(value) } else { output.literal("null") }
    }

    public mutating func member(_ name: String, _ value: Int) {
        member(name, Int64(value))
    }

    public mutating func member(_ name: String, _ value: Int64) {
        output.name(name)
        output.integer(value)
    }

    public mutating func member(_ name: String, _ value: Bool) {
        output.name(name)
        output.bool(value)
    }

    public mutating func member(_ name: String, _ values: [String]) {
        array(name) { for value in values { $0.element(value) } }
    }

    /// A member whose value is an object.
    public mutating func member(_ name: String, _ fill: (inout JSONWriter) -> Void) {
        output.name(name)
        braces(fill)
    }

    /// A member whose value is an array.
    public mutating func array(_ name: String, _ fill: (inout JSONArrayWriter) -> Void) {
        output.name(name)
        var elements = JSONArrayWriter()
        swap(&elements.output, &output)
        elements.brackets(fill)
        swap(&elements.output, &output)
    }

    public mutating func null(_ name: String) {
        output.name(name)
        output.literal("null")
    }

    /// A member whose value was parsed.
    public mutating func member(_ name: String, value: JSONValue) {
        output.name(name)
        output.value(value)
    }

    fileprivate mutating func braces(_ fill: (inout JSONWriter) -> Void) {
        output.open(UInt8(ascii: "{"))
        fill(&self)
        output.close(UInt8(ascii: "}"))
    }
}

/// Writes the elements of one JSON array, in the order of the calls.
public struct JSONArrayWriter {
    fileprivate var output = JSONOutput()

    public mutating func element(_ value: String) {
        output.separate()
        output.string(value)
    }

    public mutating func element(_ value: Int) {
        output.separate()
        output.integer(Int64(value))
    }

    public mutating func null() {
        output.separate()
        output.literal("null")
    }

    /// An element that is an object.
    public mutating func element(_ fill: (inout JSONWriter) -> Void) {
        output.separate()
        var members = JSONWriter()
        swap(&members.output, &output)
        members.braces(fill)
        swap(&members.output, &output)
    }

    fileprivate mutating func brackets(_ fill: (inout JSONArrayWriter) -> Void) {
        output.open(UInt8(ascii: "["))
        fill(&self)
        output.close(UInt8(ascii: "]"))
    }
}

/// The bytes of a JSON text while it is written: scalars, escaping and commas.
private struct JSONOutput {
    var bytes: [UInt8] = []
    private var needsComma = false

    /// Writes the comma before a member or element that is not the first.
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
        bytes.append(contentsOf: String(value).utf8)
    }

    mutating func value(_ value: JSONValue) {
        switch value {
        case .null: literal("null")
        case .bool(let value): bool(value)
        case .integer(let value): integer(value)
        case .unsigned(let value): bytes.append(contentsOf: "\(value)".utf8)
        // Swift writes a finite number as JSON does: 0.5, 1e+20.
        case .number(let value): bytes.append(contentsOf: "\(value)".utf8)
        case .string(let value): string(value)
        case .array(let elements):
            open(UInt8(ascii: "["))
            for element in elements {
                separate()
                self.value(element)
            }
            close(UInt8(ascii: "]"))
        case .object(let object):
            open(UInt8(ascii: "{"))
            for member in object.members {
                name(member.name)
                self.value(member.value)
            }
            close(UInt8(ascii: "}"))
        }
    }

    mutating func string(_ value: String) {
        var value = value
        bytes.append(UInt8(ascii: "\""))
        value.withUTF8 { text in
            guard Self.needsEscapes(text) else { return bytes.append(contentsOf: text) }
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

    /// Most texts need no escaping. This check has no branch that depends on a single byte, so the
    /// compiler can compare many bytes at once.
    private static func needsEscapes(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var found: UInt8 = 0
        for byte in text {
            let isControl: UInt8 = byte < 0x20 ? 1 : 0
            let isQuote: UInt8 = byte == UInt8(ascii: "\"") ? 1 : 0
            let isBackslash: UInt8 = byte == UInt8(ascii: "\\") ? 1 : 0
            found |= isControl | isQuote | isBackslash
        }
        return found != 0
    }

    /// RFC 8259 §7: only these must be escaped.
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
