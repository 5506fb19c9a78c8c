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
}
