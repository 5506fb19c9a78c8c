public import Networking

/// A request method: a case-sensitive token (RFC 9110 §9.1).
public struct Method: Hashable, Sendable, CustomStringConvertible {
    public let name: String

    public init(_ name: String) { self.name = name }

    public var description: String { name }

    public static let get = Method("GET")
    public static let head = Method("HEAD")
    public static let post = Method("POST")
    public static let put = Method("PUT")
    public static let delete = Method("DELETE")
    public static let options = Method("OPTIONS")
    public static let connect = Method("CONNECT")
    public static let trace = Method("TRACE")

    /// For a ``Route`` that takes every method, `OPTIONS` and unknown ones too.
    public static let any = Method("*")
}

/// One complete request: its head is valid HTTP, and its body has arrived.
///
/// Cheap to copy. Properties that are derived from the bytes of the head (`path`, `query`, header
/// values) are computed at each call.
public struct Request: Sendable {
    let head: RequestHead
    private let content: RequestBody?
    /// The client: the peer of the connection or, behind a trusted proxy, the address that it
    /// names.
    public let peer: IPAddress
    let requestID: RequestID
    /// The values of the parameters in the route's template.
    public let parameters: PathParameters
    /// The template of the matched route, as in the access record.
    public let route: String?

    init(
        head: RequestHead, body: [UInt8], peer: IPAddress, requestID: RequestID,
        parameters: PathParameters = PathParameters(), route: String? = nil
    ) {
        self.head = head
        content = body.isEmpty ? nil : RequestBody(body)
        self.peer = peer
        self.requestID = requestID
        self.parameters = parameters
        self.route = route
    }

    /// A request without a socket, for routers and tests. The router answers 400
    /// where `target` is not valid.
    public init(
        method: Method, target: String, headers: [(String, String)] = [], body: [UInt8] = [],
        peer: IPAddress = .loopback, id: RequestID = RequestID(prefix: 0, number: 0)
    ) {
        self.init(
            head: RequestHead(method: method, target: target, headers: headers),
            body: body, peer: peer, requestID: id)
    }

    public var method: Method { head.method }

    public var body: [UInt8] { content?.bytes ?? [] }

    /// The path as it was sent, without the query.
    public var path: String { head.path }

    public var headers: HeaderFields { HeaderFields(head: head) }

    /// Identifies this request in `X-Request-Id` and in the records of the hooks.
    public var id: String { requestID.description }

    /// The pairs of an `application/x-www-form-urlencoded` query string, in order; `+` is a space.
    public var query: [(name: String, value: String)] {
        guard let range = head.target.query else { return [] }
        return FormCoding.pairs(head.bytes, in: range)
    }
}

/// The values of a matched route's parameters, percent-decoded.
public struct PathParameters: Sendable {
    let names: [String]
    let values: [String]

    init(names: [String] = [], values: [String] = []) {
        self.names = names
        self.values = values
    }

    public subscript(name: String) -> String? {
        names.firstIndex(of: name).map { values[$0] }
    }
}
