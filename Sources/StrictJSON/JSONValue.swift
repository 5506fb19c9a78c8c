/// One value of a JSON text, as RFC 8259 §3 has them.
///
/// `integer` and `unsigned` are what was written as `-?digits` and fits 64 bits; every other
/// number, `1.0` and `1e3` among them, is `number`, so that a claim that must be an integer cannot
/// arrive as a fraction.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Beyond `Int64.max`, up to `UInt64.max`.
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// How many arrays and objects may be open at once; the outermost value counts as one.
    public static let maximumDepth = 32

    /// Reads exactly one value, with white space around it and nothing else.
    ///
    /// Linear in the number of bytes; what it keeps is bounded by them too, so the caller's limit
    /// on the body is the limit on members and elements.
    public static func parse(_ bytes: [UInt8]) throws(JSONFault) -> JSONValue {
        var reader = JSONReader(bytes)
        return try reader.document()
    }

    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    public var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    public var array: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    public var object: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
}
