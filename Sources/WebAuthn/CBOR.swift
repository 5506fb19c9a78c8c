/// A value of CBOR (RFC 8949) as far as authenticators write it: no tags, no floating-point
/// numbers, no indefinite lengths.
enum CBORValue: Equatable, Sendable {
    /// -2⁶³ to 2⁶³ - 1.
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
    case array([CBORValue])
    case map(CBORMap)
    case bool(Bool)
    case null
}

/// A map whose keys are integers and texts, none twice.
struct CBORMap: Equatable, Sendable {
    enum Key: Hashable, Sendable {
        case integer(Int64)
        /// UTF-8, compared byte by byte.
        case text([UInt8])
    }

    private let values: [Key: CBORValue]

    fileprivate init(_ values: [Key: CBORValue]) {
        self.values = values
    }

    var count: Int { values.count }

    subscript(_ key: Int64) -> CBORValue? { values[.integer(key)] }

    subscript(_ key: String) -> CBORValue? { values[.text(Array(key.utf8))] }
}

/// Reads values one after another.
///
/// Lengths and numbers must be in their shortest form (CTAP2 canonical CBOR), but the keys of a map
/// may have any order. Memory is bounded by the input, since every element of it has a byte there.
struct CBORReader {
    struct Malformed: Error, Equatable {}

    /// Arrays and maps within each other. Attestation statements that are compound have five.
    private static let maximumDepth = 8

    private let bytes: ArraySlice<UInt8>
    /// Of the first byte that was not read.
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    /// Exactly one value, with nothing after it.
    static func value(of bytes: [UInt8]) throws(Malformed) -> CBORValue {
        var reader = CBORReader(bytes[...])
        let value = try reader.next()
        guard reader.isAtEnd else { throw Malformed() }
        return value
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    mutating func next() throws(Malformed) -> CBORValue {
        try value(depth: 0)
    }

    private mutating func value(depth: Int) throws(Malformed) -> CBORValue {
        let initial = try byte()
        // The simple values: false, true and null (RFC 8949 §3.3).
        switch initial {
        case 0xF4: return .bool(false)
        case 0xF5: return .bool(true)
        case 0xF6: return .null
        default: break
        }
        let argument = try argument(of: initial)
        switch initial >> 5 {
        case 0: return .integer(argument)
        case 1: return .integer(-1 - argument)
        case 2: return .bytes(Array(try take(argument)))
        case 3:
            guard let text = String(validating: try take(argument), as: UTF8.self) else {
                throw Malformed()
            }
            return .text(text)
        case 4: return .array(try array(count: argument, depth: depth + 1))
        case 5: return .map(try map(count: argument, depth: depth + 1))
        default: throw Malformed()
        }
    }

    private mutating func array(count: Int64, depth: Int) throws(Malformed) -> [CBORValue] {
        guard depth <= Self.maximumDepth else { throw Malformed() }
        var elements: [CBORValue] = []
        // Ends at the end of the input, whatever the count is.
        for _ in 0..<count { elements.append(try value(depth: depth)) }
        return elements
    }

    private mutating func map(count: Int64, depth: Int) throws(Malformed) -> CBORMap {
        guard depth <= Self.maximumDepth else { throw Malformed() }
        var values: [CBORMap.Key: CBORValue] = [:]
        for _ in 0..<count {
            let key: CBORMap.Key
            switch try value(depth: depth) {
            case .integer(let number): key = .integer(number)
            case .text(let text): key = .text(Array(text.utf8))
            default: throw Malformed()
            }
            let old = values.updateValue(try value(depth: depth), forKey: key)
            guard old == nil else { throw Malformed() }
        }
        return CBORMap(values)
    }

    /// The number in, or after, the initial byte (RFC 8949 §3): at most `Int64.max`.
    private mutating func argument(of initial: UInt8) throws(Malformed) -> Int64 {
        let short = initial & 0x1F
        if short < 24 { return Int64(short) }
        guard short <= 27 else { throw Malformed() }
        let size = 1 << (short - 24)
        let number = try take(Int64(size)).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // The greatest number that fits into the next shorter form.
        let shorter: UInt64 = size == 1 ? 23 : (1 << UInt64(size * 4)) - 1
        guard number > shorter, let argument = Int64(exactly: number) else { throw Malformed() }
        return argument
    }

    private mutating func byte() throws(Malformed) -> UInt8 {
        guard position < bytes.endIndex else { throw Malformed() }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func take(_ count: Int64) throws(Malformed) -> ArraySlice<UInt8> {
        guard count <= Int64(bytes.endIndex - position) else { throw Malformed() }
        let start = position
        position += Int(count)
        return bytes[start..<position]
    }
}
