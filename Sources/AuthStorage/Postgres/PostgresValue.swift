internal import AuthCore
internal import Cryptography

/// A parameter of a statement, in PostgreSQL's binary format (the `…send` functions of its types).
/// The server infers the types from the statement, which names them where it could not.
enum PostgresValue: Sendable {
    /// `bigint`
    case integer(Int64)
    case bool(Bool)
    /// `text`, which cannot contain U+0000: it is stored as U+FFFD.
    case text(String)
    /// `bytea`
    case bytes([UInt8])
    /// `uuid`: 16 bytes.
    case uuid([UInt8])
    /// `timestamptz`
    case instant(Instant)
    /// An array whose elements are of that type, or null.
    case array(PostgresType, [PostgresValue])
    case null

    /// `text[]`
    static func texts(_ texts: [String]) -> PostgresValue {
        .array(.text, texts.map { .text($0) })
    }

    /// `bytea[]`
    static func byteArrays(_ arrays: [[UInt8]]) -> PostgresValue {
        .array(.bytea, arrays.map { .bytes($0) })
    }

    /// `bigint[]`
    static func integers(_ numbers: [Int64]) -> PostgresValue {
        .array(.bigint, numbers.map { .integer($0) })
    }

    static func id<Kind>(_ id: Identifier<Kind>) -> PostgresValue {
        // The text of an identifier is always that of a UUID.
        .uuid(Hex.decode(id.text.utf8.filter { $0 != UInt8(ascii: "-") }) ?? [])
    }

    static func id<Kind>(_ id: Identifier<Kind>?) -> PostgresValue {
        id.map { .id($0) } ?? .null
    }

    init(_ value: Int64?) {
        self = value.map(PostgresValue.integer) ?? .null
    }

    init(_ text: String?) {
        self = text.map(PostgresValue.text) ?? .null
    }

    init(_ instant: Instant?) {
        self = instant.map(PostgresValue.instant) ?? .null
    }

    /// PostgreSQL rejects a negative limit.
    static func limit(_ limit: Int) -> PostgresValue {
        .integer(Int64(max(0, limit)))
    }

    var isNull: Bool {
        if case .null = self { true } else { false }
    }

    func append(to out: inout [UInt8]) {
        switch self {
        case .integer(let number): out.append(bigEndian: number)
        case .bool(let value): out.append(value ? 1 : 0)
        case .text(let text): out += Self.utf8(text)
        case .bytes(let bytes): out += bytes
        case .uuid(let bytes): out += bytes
        case .instant(let instant): out.append(bigEndian: PostgresTime.microseconds(instant))
        case .array(let type, let elements): Self.append(elements, of: type, to: &out)
        case .null: break
        }
    }

    private static func utf8(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.contains(0) else { return bytes }
        return bytes.flatMap { $0 == 0 ? [0xef, 0xbf, 0xbd] : [$0] }
    }

    /// One dimension, the index of the first element 1 (`array_send`).
    private static func append(
        _ elements: [PostgresValue], of type: PostgresType, to out: inout [UInt8]
    ) {
        out.append(bigEndian: Int32(elements.isEmpty ? 0 : 1))
        out.append(bigEndian: Int32(elements.contains { $0.isNull } ? 1 : 0))
        out.append(bigEndian: type.rawValue)
        guard !elements.isEmpty else { return }
        out.append(bigEndian: Int32(elements.count))
        out.append(bigEndian: Int32(1))
        for element in elements {
            let start = out.count
            out.append(bigEndian: Int32(-1))
            guard !element.isNull else { continue }
            element.append(to: &out)
            let length = Int32(out.count - start - 4)
            Swift.withUnsafeBytes(of: length.bigEndian) {
                out.replaceSubrange(start..<(start + 4), with: $0)
            }
        }
    }
}

/// The types of elements of arrays, with their object ids.
enum PostgresType: Int32 {
    case bytea = 17
    case bigint = 20
    case text = 25
    case timestamptz = 1184
    case uuid = 2950
}

extension [UInt8] {
    fileprivate mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

/// `timestamptz` in binary: microseconds since 2000-01-01T00:00:00Z. The ends of `Int64` are
/// `infinity` and `-infinity`.
enum PostgresTime {
    private static let epoch: Int64 = 946_684_800_000
    /// 4714-11-24 BC, the first day that PostgreSQL knows.
    private static let first: Int64 = -211_813_488_000_000_000
    /// The year 294277.
    private static let end: Int64 = 9_223_371_331_200_000_000

    /// Instants outside of PostgreSQL's range become infinite.
    static func microseconds(_ instant: Instant) -> Int64 {
        let (since, early) = instant.milliseconds.subtractingReportingOverflow(epoch)
        let (value, overflow) = since.multipliedReportingOverflow(by: 1000)
        if early || overflow { return instant.milliseconds < 0 ? .min : .max }
        if value < first { return .min }
        return value < end ? value : .max
    }

    static func instant(microseconds: Int64) -> Instant {
        switch microseconds {
        case .min, .max: return Instant(milliseconds: microseconds)
        default:
            let (quotient, rest) = microseconds.quotientAndRemainder(dividingBy: 1000)
            return Instant(milliseconds: (rest < 0 ? quotient - 1 : quotient) + epoch)
        }
    }
}

/// A query with its parameters.
struct PostgresStatement: Sendable {
    let query: Query
    let values: [PostgresValue]

    init(_ query: Query, _ values: PostgresValue...) {
        self.init(query, values)
    }

    init(_ query: Query, _ values: [PostgresValue]) {
        self.query = query
        self.values = values
    }
}
