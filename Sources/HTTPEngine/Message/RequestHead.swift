/// The head of a request: its bytes, and the positions of its parts in them.
///
/// Immutable and shared by every copy of a ``Request``, so that a copy costs one reference count.
/// Strings are made only when they are asked for.
final class RequestHead: Sendable {
    /// The positions of name and value of one field line. The value is without white space around
    /// it.
    struct Field: Sendable {
        let nameStart: UInt32
        let nameEnd: UInt32
        let valueStart: UInt32
        let valueEnd: UInt32
    }

    /// How the body's end is found (RFC 9112 §6.3).
    enum Framing: Sendable, Equatable {
        case none
        case length(Int)
        case chunked
    }

    let method: Method
    let bytes: [UInt8]
    let fields: [Field]
    let target: RequestTarget
    let framing: Framing
    /// HTTP/1.0 has minor version 0: no keep-alive unless the client asks for it.
    let minorVersion: UInt8
    /// Whether the client asks for a persistent connection; the server may still close it.
    let keepsAlive: Bool
    let expectsContinue: Bool
    /// The trace that the client names.
    let trace: TraceContext?
    /// False when the head is invalid or incomplete: there are no fields then.
    let isWhole: Bool

    init(
        method: Method, bytes: [UInt8], fields: [Field], target: RequestTarget,
        framing: Framing, minorVersion: UInt8, keepsAlive: Bool, expectsContinue: Bool,
        trace: TraceContext? = nil, isWhole: Bool = true
    ) {
        self.method = method
        self.bytes = bytes
        self.fields = fields
        self.target = target
        self.framing = framing
        self.minorVersion = minorVersion
        self.keepsAlive = keepsAlive
        self.expectsContinue = expectsContinue
        self.trace = trace
        self.isWhole = isWhole
    }

    /// A head for a request made without a socket.
    convenience init(method: Method, target text: String, headers: [(String, String)]) {
        var bytes = Array(text.utf8)
        let target = RequestTarget(bytes, in: 0..<bytes.count)
        var fields: [Field] = []
        for (name, value) in headers {
            let start = UInt32(bytes.count)
            bytes += name.utf8
            let middle = UInt32(bytes.count)
            bytes += value.utf8
            fields.append(
                Field(
                    nameStart: start, nameEnd: middle, valueStart: middle,
                    valueEnd: UInt32(bytes.count)))
        }
        self.init(
            method: method, bytes: bytes, fields: fields,
            target: target ?? RequestTarget(path: 0..<bytes.count, isDecodable: false),
            framing: .none, minorVersion: 1, keepsAlive: true, expectsContinue: false)
    }

    var path: String { String(decoding: bytes[target.path], as: UTF8.self) }
}

/// The percent-decoded segments of a path, as bytes.
struct PathSegments: Sequence, IteratorProtocol {
    private let head: RequestHead
    private var index: Int
    private var isDone = false

    init(_ head: RequestHead) {
        self.head = head
        let path = head.target.path
        let isRooted = !path.isEmpty && head.bytes[path.lowerBound] == UInt8(ascii: "/")
        index = path.lowerBound + (isRooted ? 1 : 0)
    }

    mutating func next() -> ArraySlice<UInt8>? {
        guard !isDone else { return nil }
        let end = head.target.path.upperBound
        let start = index
        while index < end, head.bytes[index] != UInt8(ascii: "/") { index += 1 }
        let segment = start..<index
        if index < end { index += 1 } else { isDone = true }
        guard head.target.hasEscapes else { return head.bytes[segment] }
        return PercentCoding.decode(head.bytes, in: segment, plusIsSpace: false)[...]
    }
}
