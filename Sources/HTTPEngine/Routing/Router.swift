/// The route table: decides from the head alone who answers, and asks them once the body is there.
///
/// Promises: an unknown path is 404, a known path with another method 405 with `Allow`, in that
/// order and before any body is read; HEAD is answered by GET routes, OPTIONS by the table. Every
/// fault is rendered by the group whose prefix covers the path. Immutable.
public struct Router: Sendable {
    /// What a head comes to.
    enum Resolution: Sendable {
        case route(MountedRoute, PathParameters)
        case options(allowed: [Method])
        case fault(Fault, FaultRenderer)
    }

    /// An answer, and the thrown error if it is one of ours to mend.
    struct Outcome: Sendable {
        var response: Response
        var error: (any Error)?
    }

    /// Bytes of body a route takes that names no limit of its own, where no server says otherwise.
    static let defaultBodyLimit = 65_536

    private let tree: RouteTree
    private let methods: [Method]
    private let prefixes: [(path: [UInt8], faults: FaultRenderer)]
    private let fallback: FaultRenderer

    /// - Parameters:
    ///   - groups: the surfaces; a method mounted twice on one path traps.
    ///   - fallback: renders faults of paths that no group covers and of unreadable requests.
    public init(groups: [RouteGroup], fallback: @escaping FaultRenderer) {
        var tree = RouteTree()
        var methods: [Method] = []
        for group in groups {
            for route in group.routes {
                tree.mount(MountedRoute(route: route, faults: group.faults))
                if !methods.contains(route.method) { methods.append(route.method) }
            }
        }
        self.tree = tree
        self.methods = Router.allowed(methods)
        self.fallback = fallback
        prefixes = groups.flatMap { group in
            group.prefixes.map { (Array($0.utf8), group.faults) }
        }.sorted { $0.path.count > $1.path.count }
    }

    /// Answers a request as the server would, without a socket. The reply to HEAD has no body.
    public func respond(to request: Request) async -> Response {
        let outcome: Outcome
        switch resolve(request.head) {
        case .fault(let fault, let faults):
            outcome = render(fault, by: faults, for: request.context)
        case .options(let allowed): outcome = Outcome(response: Router.options(allowed))
        case .route(let mounted, let parameters):
            let limit = mounted.route.bodyLimit ?? Router.defaultBodyLimit
            if request.body.count > limit {
                let fault = Fault.bodyTooLarge(limit: limit)
                outcome = render(fault, by: mounted.faults, for: request.context)
            } else {
                outcome = await run(mounted, parameters, request)
            }
        }
        var response = outcome.response
        if request.method == .head { response.body = [] }
        return response
    }

    func resolve(_ head: RequestHead) -> Resolution {
        if head.target.isAsterisk {
            guard head.method == .options else {
                return .fault(.malformed(.badTarget), fallback)
            }
            return .options(allowed: methods)
        }
        guard head.target.isDecodable else {
            return .fault(.malformed(.badTarget), renderer(for: head))
        }
        guard let (routes, values) = tree.find(head) else {
            return .fault(.notFound, renderer(for: head))
        }
        guard let mounted = Router.pick(routes, for: head.method) else {
            let allowed = Router.allowed(routes.map(\.route.method))
            if head.method == .options { return .options(allowed: allowed) }
            return .fault(.methodNotAllowed(allowed: allowed), renderer(for: head))
        }
        if values.isEmpty { return .route(mounted, PathParameters()) }
        let parameters = PathParameters(names: mounted.parameterNames, values: values)
        guard mounted.route.accepts(parameters) else {
            return .fault(.notFound, mounted.faults)
        }
        return .route(mounted, parameters)
    }

    /// Stays on the caller's executor until the handler itself leaves it.
    nonisolated(nonsending) func run(
        _ mounted: MountedRoute, _ parameters: PathParameters, _ request: Request
    ) async -> Outcome {
        var request = request
        request.parameters = parameters
        request.route = mounted.route.template
        do {
            return Outcome(response: try await mounted.route.handler(request))
        } catch is PathParameterMismatch {
            return render(.notFound, by: mounted.faults, for: request.context)
        } catch {
            return render(.thrown(error), by: mounted.faults, for: request.context)
        }
    }

    /// Renders a fault with the headers that its status must have.
    func render(
        _ fault: Fault, by faults: FaultRenderer, for context: FaultContext
    ) -> Outcome {
        var outcome = Outcome(response: faults(fault, context))
        switch fault {
        case .methodNotAllowed(let allowed):
            outcome.response.replace("Allow", Router.list(allowed))
        case .overloaded(let seconds):
            outcome.response.replace("Retry-After", String(max(1, seconds)))
        case .thrown(let error):
            if outcome.response.status == .internalServerError { outcome.error = error }
        case .malformed, .notFound, .bodyTooLarge, .timeout: break
        }
        return outcome
    }

    /// The renderer whose prefix covers the path, as far as that was read; else the fallback's.
    func renderer(for head: RequestHead?) -> FaultRenderer {
        guard let head else { return fallback }
        let path = PercentCoding.decode(head.bytes, in: head.target.path, plusIsSpace: false)
        let group = prefixes.first { prefix, _ in
            path.starts(with: prefix)
                && (path.count == prefix.count || prefix.last == UInt8(ascii: "/")
                    || path[path.startIndex + prefix.count] == UInt8(ascii: "/"))
        }
        return group?.faults ?? fallback
    }

    static func options(_ allowed: [Method]) -> Response {
        Response(status: .noContent, headers: [("Allow", list(allowed))])
    }

    private static func pick(_ routes: [MountedRoute], for method: Method) -> MountedRoute? {
        routes.first { $0.route.method == method }
            ?? (method == .head ? routes.first { $0.route.method == .get } : nil)
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

extension Request {
    var context: FaultContext {
        FaultContext(id: requestID, head: head)
    }
}

extension Response {
    fileprivate mutating func replace(_ name: String, _ value: String) {
        headers.removeAll { Octet.equalIgnoringCase($0.0, name) }
        headers.append((name, value))
    }
}
