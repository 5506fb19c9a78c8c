/// What answers a request. Runs on the connection's loop until it awaits something that has an
/// isolation of its own, and comes back there; it must not compute or block for long.
public typealias Handler = nonisolated(nonsending) @Sendable (Request) async throws -> Response

/// A handler that also gets its route's typed path parameter.
public typealias TypedHandler<Value> =
    nonisolated(nonsending) @Sendable (Request, Value) async throws -> Response

/// One method on one path template, and who answers it.
///
/// A template is a path whose segments are literal (`api`) or a whole parameter (`{account_id}`);
/// a parameter takes one segment that is not empty.
public struct Route: Sendable {
    public let method: Method
    public let template: String
    /// Bytes of body this route takes; nil is the server's `bodyBytes`.
    public let bodyLimit: Int?
    let handler: Handler
    let accepts: @Sendable (PathParameters) -> Bool

    public init(
        _ method: Method, _ template: String, bodyLimit: Int? = nil, handler: @escaping Handler
    ) {
        self.method = method
        self.template = template
        self.bodyLimit = bodyLimit
        self.handler = handler
        accepts = { _ in true }
    }

    /// A route whose parameter has a type: text that does not parse is 404, before the body is
    /// read.
    public init<Value>(
        _ method: Method, _ template: String, _ parameter: PathParameter<Value>,
        bodyLimit: Int? = nil,
        handler: @escaping TypedHandler<Value>
    ) {
        precondition(template.contains("{\(parameter.name)}"), "\(template) lacks its parameter")
        self.method = method
        self.template = template
        self.bodyLimit = bodyLimit
        self.handler = { try await handler($0, $0.value(of: parameter)) }
        accepts = { parameters in parameters[parameter.name].flatMap(parameter.parse) != nil }
    }
}

/// The routes of one surface, and how it renders what goes wrong under its paths.
public struct RouteGroup: Sendable {
    public let prefixes: [String]
    public let routes: [Route]
    let faults: FaultRenderer

    /// - Parameters:
    ///   - prefixes: paths whose faults are this surface's, also where no route is. `/api` covers
    ///     `/api` and `/api/…`, not `/apiary`. Of all groups' prefixes the longest wins.
    ///   - faults: renders engine faults and thrown errors, for these prefixes and these routes.
    public init(prefixes: [String], faults: @escaping FaultRenderer, routes: [Route]) {
        self.prefixes = prefixes
        self.faults = faults
        self.routes = routes
    }
}
