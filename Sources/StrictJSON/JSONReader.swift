/// Reads one JSON text, front to back, looking at every byte once.
///
/// Strings and numbers are read in extensions of their own.
struct JSONReader {
    let bytes: [UInt8]
    var index = 0
    private var depth = 0

    /// Up to here a name is compared with its elders one by one; from here on a set is cheaper, and
    /// a body full of members must not cost the square of its length.
    private static let fewMembers = 8

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(JSONFault) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw fault(.byteOrderMark) }
        skipWhiteSpace()
        if peek == nil { throw fault(.empty) }
        let value = try value()
        skipWhiteSpace()
        if peek != nil { throw fault(.trailingBytes) }
        return value
    }

    var peek: UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    func fault(_ cause: JSONFault.Cause, at offset: Int? = nil) -> JSONFault {
        JSONFault(offset: offset ?? index, cause: cause)
    }

    private mutating func value() throws(JSONFault) -> JSONValue {
        guard let first = peek else { throw fault(.unexpectedEnd) }
        switch first {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: throw fault(.unexpectedByte)
        }
    }

    private mutating func literal(
        _ text: StaticString, _ value: JSONValue
    ) throws(JSONFault) -> JSONValue {
        for offset in 0..<text.utf8CodeUnitCount {
            guard let byte = peek else { throw fault(.unexpectedEnd) }
            if byte != text.utf8Start[offset] { throw fault(.unexpectedByte) }
            index += 1
        }
        return value
    }

    private mutating func array() throws(JSONFault) -> [JSONValue] {
        try enter()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return elements }
        repeat {
            skipWhiteSpace()
            elements.append(try value())
        } while try hasAnother(before: UInt8(ascii: "]"))
        return elements
    }

    private mutating func object() throws(JSONFault) -> JSONObject {
        try enter()
        defer { depth -= 1 }
        var members: [JSONObject.Member] = []
        var names: Set<OctetName> = []
        if take(UInt8(ascii: "}")) { return JSONObject(members: members) }
        repeat {
            skipWhiteSpace()
            let start = index
            let name = try memberName()
            if isTaken(name, by: members, &names) { throw fault(.duplicateName, at: start) }
            members.append(JSONObject.Member(name: name, value: try value()))
        } while try hasAnother(before: UInt8(ascii: "}"))
        return JSONObject(members: members)
    }

    private mutating func memberName() throws(JSONFault) -> String {
        guard let first = peek else { throw fault(.unexpectedEnd) }
        guard first == UInt8(ascii: "\"") else { throw fault(.expectedName) }
        let name = try string()
        if !take(UInt8(ascii: ":")) {
            throw fault(peek == nil ? .unexpectedEnd : .expectedColon)
        }
        skipWhiteSpace()
        return name
    }

    private func isTaken(
        _ name: String, by members: [JSONObject.Member], _ names: inout Set<OctetName>
    ) -> Bool {
        if members.count < Self.fewMembers {
            return members.contains { sameOctets($0.name, name) }
        }
        if names.isEmpty {
            for member in members { names.insert(OctetName(text: member.name)) }
        }
        return !names.insert(OctetName(text: name)).inserted
    }

    /// Steps over the bracket that opened this array or object and the white space behind it.
    private mutating func enter() throws(JSONFault) {
        if depth == JSONValue.maximumDepth { throw fault(.tooDeep) }
        depth += 1
        index += 1
    }

    private mutating func hasAnother(before end: UInt8) throws(JSONFault) -> Bool {
        if take(UInt8(ascii: ",")) { return true }
        if take(end) { return false }
        throw fault(peek == nil ? .unexpectedEnd : .expectedCommaOrEnd)
    }

    /// Steps over white space, and over `byte` where it comes next.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipWhiteSpace()
        guard peek == byte else { return false }
        index += 1
        return true
    }

    /// RFC 8259 §2: exactly these four, and no others of Unicode's.
    private mutating func skipWhiteSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            index += 1
        }
    }
}
