/// The route table: picks the route from the request head alone, and runs its handler once the body
/// has arrived. Immutable.
///
/// Guarantees: an unknown path is 404, a known path with another method 405 with `Allow`, in that
/// order and before the body is read. GET routes answer HEAD, the table answers OPTIONS, and a
/// route with ``Method/any`` answers the methods that no other route of its path has. Errors are
/// rendered by the group with the longest prefix of the path.
public struct Router: Sendable {
    /// The result of routing a head.
    enum Match: Sendable {
        case route(MountedRoute, PathParameters)
        /// The response is known without a handler: 404, 405, 400, or 204 for OPTIONS.
        case response(Response)
    }

    private var tree: RouteTree
    private let methods: [Method]
    private let prefixes: [(path: [UInt8], errors: ErrorRenderer)]
    private let fallback: ErrorRenderer
    private let origin: String?

    /// - Parameters:
    ///   - groups: one for each API; a method mounted twice on one path traps.
    ///   - fallback: renders errors of paths that no group covers and of unreadable requests.
    ///   - origin: scheme and authority of a server to which unknown paths are redirected (308);
    ///     nil answers 404.
    public init(
        groups: [RouteGroup], redirectingTo origin: String? = nil,
        fallback: @escaping ErrorRenderer
    ) {
        var tree = RouteTree()
        var methods: [Method] = []
        for group in groups {
            for route in group.routes {
                tree.mount(MountedRoute(route: route, errors: group.errors))
                if route.method != .any, !methods.contains(route.method) {
                    methods.append(route.method)
                }
            }
        }
        self.tree = tree
        self.methods = Router.allowed(methods)
        self.fallback = fallback
        self.origin = origin
        prefixes = groups.flatMap { group in
            group.prefixes.map { (Array($0.utf8), group.errors) }
        }.sorted { $0.path.count > $1.path.count }
    }

    /// The same table, with its routes counted in the rows of `templates`, to which its own are
    /// added.
    func counted(in templates: inout [String]) -> Router {
        var router = self
        router.tree.assignRows(in: &templates)
        return router
    }

    func match(_ head: RequestHead, id: RequestID) -> Match {
        if head.target.isAsterisk, head.method == .options {
            return .response(Router.options(methods))
        }
        let context = ErrorContext(id: id, head: head)
        guard head.target.isDecodable, !head.target.isAsterisk else {
            return .response(render(.malformed(.badTarget), context))
        }
        guard let (routes, values) = tree.find(head) else {
            return .response(
                origin.map { Router.redirect(head, to: $0) } ?? render(.notFound, context))
        }
        guard let mounted = Router.pick(routes, for: head.method) else {
            let allowed = Router.allowed(routes.map(\.route.method))
            if head.method == .options { return .response(Router.options(allowed)) }
            return .response(render(.methodNotAllowed(allowed: allowed), context))
        }
        if values.isEmpty { return .route(mounted, PathParameters()) }
        return .route(mounted, PathParameters(names: mounted.parameterNames, values: values))
    }

    /// Renders an error by the group of its route, or else by the one that covers the path, with
    /// the status and the headers that the error must have.
    func render(
        _ error: HTTPError, of mounted: MountedRoute? = nil, _ context: ErrorContext
    ) -> Response {
        let renderer = mounted?.errors ?? renderer(for: context.head)
        var response = renderer(error, context)
        response.status = error.status
        switch error {
        case .methodNotAllowed(let allowed): response.replace("Allow", Router.list(allowed))
        case .overloaded(let seconds): response.replace("Retry-After", String(max(1, seconds)))
        case .malformed, .notFound, .bodyTooLarge, .timeout, .internalError: break
        }
        return response
    }

    /// The renderer whose prefix covers the part of the path that was read; otherwise the fallback.
    private func renderer(for head: RequestHead?) -> ErrorRenderer {
        guard let head else { return fallback }
        let path = PercentCoding.decode(head.bytes, in: head.target.path, plusIsSpace: false)
        let group = prefixes.first { prefix, _ in
            path.starts(with: prefix)
                && (path.count == prefix.count || prefix.last == UInt8(ascii: "/")
                    || path[path.startIndex + prefix.count] == UInt8(ascii: "/"))
        }
        return group?.errors ?? fallback
    }

    private static func options(_ allowed: [Method]) -> Response {
        Response(status: .noContent, headers: [("Allow", list(allowed))])
    }

    /// Redirects to the same path and query, which contain only characters of URLs.
    private static func redirect(_ head: RequestHead, to origin: String) -> Response {
        let end = head.target.query?.upperBound ?? head.target.path.upperBound
        let target = String(
            decoding: head.bytes[head.target.path.lowerBound..<end], as: UTF8.self)
        return .text(
            "Use https.\n", status: Status(code: 308), headers: [("Location", origin + target)])
    }

    private static func pick(_ routes: [MountedRoute], for method: Method) -> MountedRoute? {
        routes.first { $0.route.method == method }
            ?? (method == .head ? routes.first { $0.route.method == .get } : nil)
            ?? routes.first { $0.route.method == .any }
    }

    private static func allowed(_ methods: [Method]) -> [Method] {
        var allowed = methods
        if allowed.contains(.get), !allowed.contains(.head) { allowed.append(.head) }
        if !allowed.contains(.options) { allowed.append(.options) }
        return allowed.sorted { $0.name < $1.name }
    }

    private static func list(_ methods: [Method]) -> String {
        methods.map(\.name).joined(separator: ", ")
    }
}

extension Response {
    fileprivate mutating func replace(_ name: String, _ value: String) {
        headers.removeAll { ASCII.equalIgnoringCase($0.0, name) }
        headers.append((name, value))
    }
}
