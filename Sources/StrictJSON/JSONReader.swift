/// Reads one JSON text from front to back, every byte once.
struct JSONReader {
    private let bytes: [UInt8]
    private let boundsMarks: Bool
    private var index = 0
    private var depth = 0

    /// With fewer members, a name is compared with each of them. With more, a set is cheaper.
    /// Otherwise a body full of members would take quadratic time.
    private static let fewMembers = 8

    init(_ bytes: [UInt8], boundsMarks: Bool) {
        self.bytes = bytes
        self.boundsMarks = boundsMarks
    }

    mutating func document() throws(JSONError) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { throw error(.byteOrderMark) }
        skipWhiteSpace()
        if peek == nil { throw error(.empty) }
        let value = try value()
        skipWhiteSpace()
        if peek != nil { throw error(.trailingBytes) }
        return value
    }

    private var peek: UInt8? {
        index < bytes.count ? bytes[index] : nil
    }

    private func error(_ cause: JSONError.Cause, at offset: Int? = nil) -> JSONError {
        JSONError(offset: offset ?? index, cause: cause)
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        guard let first = peek else { throw error(.unexpectedEnd) }
        switch first {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: throw error(.unexpectedByte)
        }
    }

    private mutating func literal(
        _ text: StaticString, _ value: JSONValue
    ) throws(JSONError) -> JSONValue {
        for offset in 0..<text.utf8CodeUnitCount {
            guard let byte = peek else { throw error(.unexpectedEnd) }
            if byte != text.utf8Start[offset] { throw error(.unexpectedByte) }
            index += 1
        }
        return value
    }

    private mutating func array() throws(JSONError) -> [JSONValue] {
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

    private mutating func object() throws(JSONError) -> JSONObject {
        try enter()
        defer { depth -= 1 }
        var members: [JSONObject.Member] = []
        var names: Set<NameBytes> = []
        if take(UInt8(ascii: "}")) { return JSONObject(members: members) }
        repeat {
            skipWhiteSpace()
            let start = index
            let name = try memberName()
            if isTaken(name, by: members, &names) { throw error(.duplicateName, at: start) }
            members.append(JSONObject.Member(name, try value()))
        } while try hasAnother(before: UInt8(ascii: "}"))
        return JSONObject(members: members)
    }

    private mutating func memberName() throws(JSONError) -> String {
        guard let first = peek else { throw error(.unexpectedEnd) }
        guard first == UInt8(ascii: "\"") else { throw error(.expectedName) }
        let name = try string()
        if !take(UInt8(ascii: ":")) {
            throw error(peek == nil ? .unexpectedEnd : .expectedColon)
        }
        skipWhiteSpace()
        return name
    }

    private func isTaken(
        _ name: String, by members: [JSONObject.Member], _ names: inout Set<NameBytes>
    ) -> Bool {
        if members.count < Self.fewMembers {
            return members.contains { haveSameBytes($0.name, name) }
        }
        if names.isEmpty {
            for member in members { names.insert(NameBytes(text: member.name)) }
        }
        return !names.insert(NameBytes(text: name)).inserted
    }

    /// Skips the bracket that opens an array or object.
    private mutating func enter() throws(JSONError) {
        if depth == JSONValue.maximumDepth { throw error(.tooDeep) }
        depth += 1
        index += 1
    }

    private mutating func hasAnother(before end: UInt8) throws(JSONError) -> Bool {
        if take(UInt8(ascii: ",")) { return true }
        if take(end) { return false }
        throw error(peek == nil ? .unexpectedEnd : .expectedCommaOrEnd)
    }

    /// Skips white space, and `byte` if it is next.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipWhiteSpace()
        guard peek == byte else { return false }
        index += 1
        return true
    }

    /// RFC 8259 §2: exactly these four, not the others of Unicode.
    private mutating func skipWhiteSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
            index += 1
        }
    }

    // MARK: Strings

    /// Reads a string from its opening to its closing quote (RFC 8259 §7).
    private mutating func string() throws(JSONError) -> String {
        let start = index
        index += 1
        let content = index
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                let text = try text(bytes[content..<index], from: start)
                index += 1
                return text
            case UInt8(ascii: "\\"):
                return try escapedString(from: start)
            case 0x00..<0x20:
                throw error(.controlCharacter)
            default:
                index += 1
            }
        }
        throw error(.unexpectedEnd)
    }

    /// Continues at the first backslash of the string that began at `start`.
    private mutating func escapedString(from start: Int) throws(JSONError) -> String {
        var content = Array(bytes[(start + 1)..<index])
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return try text(content[...], from: start)
            case UInt8(ascii: "\\"):
                try escape(into: &content)
            case 0x00..<0x20:
                throw error(.controlCharacter)
            default:
                content.append(byte)
                index += 1
            }
        }
        throw error(.unexpectedEnd)
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
        let start = index
        index += 1
        guard let letter = peek else { throw error(.unexpectedEnd) }
        index += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(letter)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content.append(contentsOf: try unicodeEscape(from: start))
        default: throw error(.invalidEscape, at: start)
        }
    }

    /// Reads the digits of `\uXXXX`, and those of the second escape if the first is a surrogate.
    private mutating func unicodeEscape(from start: Int) throws(JSONError) -> UTF8.EncodedScalar {
        let first = try fourHexDigits(from: start)
        var units = [first]
        if UTF16.isLeadSurrogate(first) {
            guard peek == UInt8(ascii: "\\"), index + 1 < bytes.count,
                bytes[index + 1] == UInt8(ascii: "u")
            else { throw error(.loneSurrogate, at: start) }
            index += 2
            units.append(try fourHexDigits(from: start))
        }
        guard let pair = String(validating: units, as: UTF16.self),
            let scalar = pair.unicodeScalars.first, let encoded = UTF8.encode(scalar)
        else { throw error(.loneSurrogate, at: start) }
        return encoded
    }

    private mutating func fourHexDigits(from start: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek else { throw error(.unexpectedEnd) }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw error(.invalidEscape, at: start)
            }
            unit = unit << 4 | UInt16(digit)
            index += 1
        }
        return unit
    }

    /// Overlong forms, surrogates and code points above U+10FFFF are errors, never replaced.
    private func text(_ content: ArraySlice<UInt8>, from start: Int) throws(JSONError) -> String {
        guard let text = String(validating: content, as: UTF8.self) else {
            throw error(.invalidUTF8, at: start)
        }
        if boundsMarks, text.hasManyMarks { throw error(.tooManyMarks, at: start) }
        return text
    }

    // MARK: Numbers

    /// Reads a number (RFC 8259 §6).
    private mutating func number() throws(JSONError) -> JSONValue {
        let start = index
        _ = takeByte(UInt8(ascii: "-"))
        try integerPart(from: start)
        let isWhole = index
        if takeByte(UInt8(ascii: ".")) { try digits(from: start) }
        if takeByte(UInt8(ascii: "e")) || takeByte(UInt8(ascii: "E")) {
            if !takeByte(UInt8(ascii: "+")) { _ = takeByte(UInt8(ascii: "-")) }
            try digits(from: start)
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if index == isWhole {
            if let value = Int64(text) { return .integer(value) }
            if let value = UInt64(text) { return .unsigned(value) }
        }
        guard let value = Double(text), value.isFinite else {
            throw error(.numberOutOfRange, at: start)
        }
        return .number(value)
    }

    /// No digit follows a leading zero: `01` is not a number.
    private mutating func integerPart(from start: Int) throws(JSONError) {
        if takeByte(UInt8(ascii: "0")) {
            if let next = peek, isDigit(next) { throw error(.invalidNumber, at: start) }
        } else {
            try digits(from: start)
        }
    }

    private mutating func digits(from start: Int) throws(JSONError) {
        guard let first = peek else { throw error(.unexpectedEnd) }
        guard isDigit(first) else { throw error(.invalidNumber, at: start) }
        while let byte = peek, isDigit(byte) { index += 1 }
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func takeByte(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }
}

extension String {
    /// Whether it has more than 30 combining marks in a row.
    var hasManyMarks: Bool {
        guard !utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        var marks = 0
        for scalar in unicodeScalars {
            marks = scalar.isMark ? marks + 1 : 0
            if marks > 30 { return true }
        }
        return false
    }
}

extension Unicode.Scalar {
    /// Whether it is, or decomposes into, characters that are sorted. No mark is below U+0300.
    fileprivate var isMark: Bool {
        guard value >= 0x0300 else { return false }
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return true
        default: return properties.canonicalCombiningClass != .notReordered
        }
    }
}
