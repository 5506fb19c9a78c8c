/// Answers a request. Runs on the connection's loop until it awaits something with its own
/// isolation, and continues there afterwards. It must not compute or block for long.
///
/// A thrown error is answered 500 and reported to the error hook. Errors that the client can fix
/// are rendered by the handler as responses.
public typealias Handler = nonisolated(nonsending) @Sendable (Request) async throws -> Response

/// One method on one path template, and its handler.
///
/// A template is a path whose segments are literal (`api`) or a whole parameter (`{account_id}`).
/// A parameter matches one segment that is not empty.
public struct Route: Sendable {
    public let method: Method
    public let template: String
    /// Bytes of body that this route accepts; nil is ``ServerConfiguration/bodyBytes``.
    public let bodyLimit: Int?
    /// The handler waits for something that need not happen. ``Server/drain()`` cancels it, and
    /// sends the response that it then makes.
    public let isLongPoll: Bool
    let handler: Handler

    public init(
        _ method: Method, _ template: String, bodyLimit: Int? = nil, isLongPoll: Bool = false,
        handler: @escaping Handler
    ) {
        self.method = method
        self.template = template
        self.bodyLimit = bodyLimit
        self.isLongPoll = isLongPoll
        self.handler = handler
    }
}

/// The routes of one API, and how it renders errors under its paths.
public struct RouteGroup: Sendable {
    public let prefixes: [String]
    public let routes: [Route]
    let errors: ErrorRenderer

    /// - Parameters:
    ///   - prefixes: paths whose errors are rendered by this group, also where there is no route.
    ///     `/api` covers `/api` and `/api/…`, not `/apiary`. The longest prefix of all groups is
    ///     used.
    ///   - errors: renders ``HTTPError`` for these prefixes and these routes.
    public init(prefixes: [String], errors: @escaping ErrorRenderer, routes: [Route]) {
        self.prefixes = prefixes
        self.errors = errors
        self.routes = routes
    }
}
