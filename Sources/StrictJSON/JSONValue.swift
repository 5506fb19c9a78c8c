/// One value of a JSON text (RFC 8259 §3).
///
/// `integer` and `unsigned` are numbers without fraction and exponent that fit into 64 bits; every
/// other number is `number`, also `1.0` and `1e3`, so that a member that must be an integer cannot
/// be a fraction.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// Above `Int64.max`, up to `UInt64.max`.
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// How many arrays and objects may be open at once; the outermost value counts as one.
    public static let maximumDepth = 32

    /// Reads exactly one value, with white space around it and nothing else.
    ///
    /// Time and memory are linear in the number of bytes, so the caller's limit on the body is also
    /// the limit on members and elements.
    ///
    /// - Parameter boundsMarks: whether a string may have 30 combining marks in a row at most, as
    ///   Stream-Safe Text (UAX #15) has. To compare or to hash a string, Swift sorts them, which
    ///   takes quadratic time.
    public static func parse(
        _ bytes: [UInt8], boundsMarks: Bool = true
    ) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes, boundsMarks: boundsMarks)
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

/// The members of a JSON object in the order of the text, no name twice.
///
/// Names are compared byte by byte. Swift's `==` on `String` also finds canonically equivalent
/// texts equal (the Kelvin sign and `K`), so a member could be read under a name that no other JSON
/// program reads it under.
public struct JSONObject: Sendable, Equatable {
    /// A name and its value.
    public struct Member: Sendable, Equatable {
        public let name: String
        public let value: JSONValue

        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    public let members: [Member]

    /// - Parameter members: no name twice, which is not checked.
    public init(members: [Member]) {
        self.members = members
    }

    /// The value of the member, which may be `.null`; `nil` when there is no such member.
    public subscript(name: String) -> JSONValue? {
        members.first { haveSameBytes($0.name, name) }?.value
    }

    /// The value of the member, unless it is missing or `null`.
    public func present(_ name: String) -> JSONValue? {
        let value = self[name]
        return value == .null ? nil : value
    }
}

/// Whether two texts are equal byte by byte.
func haveSameBytes(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
}

/// A member's name as an element of a set, compared by bytes. Swift's hash has a random seed in
/// each process, so a client cannot choose names that collide.
struct NameBytes: Hashable {
    let text: String

    static func == (one: NameBytes, other: NameBytes) -> Bool {
        haveSameBytes(one.text, other.text)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
