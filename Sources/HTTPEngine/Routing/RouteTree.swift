/// A route in the table, with its group's renderer and the names of its parameters.
final class MountedRoute: Sendable {
    let route: Route
    let errors: ErrorRenderer
    let parameterNames: [String]
    /// Where its requests are counted: the index of its template among those of a server.
    let row: Int

    init(route: Route, errors: @escaping ErrorRenderer, row: Int = 0) {
        self.route = route
        self.errors = errors
        self.row = row
        parameterNames = RouteTree.pieces(of: route.template).compactMap { piece in
            if case .parameter(let name) = piece { return name }
            return nil
        }
    }

    /// Runs the handler. Stays on the caller's executor until the handler itself leaves it.
    nonisolated(nonsending) func run(_ request: Request) async -> Result<Response, any Error> {
        do {
            return .success(try await route.handler(request))
        } catch {
            return .failure(error)
        }
    }
}

/// All mounted routes by path, one node per segment. A literal segment is tried before a parameter;
/// if it leads to no route, the parameter is tried.
struct RouteTree: Sendable {
    enum Piece: Equatable {
        case literal([UInt8])
        case parameter(String)
    }

    private struct Node: Sendable {
        var literals: [(segment: [UInt8], child: Int)] = []
        var parameter: Int?
        var routes: [MountedRoute] = []
    }

    private var nodes = [Node()]

    static func pieces(of template: String) -> [Piece] {
        precondition(template.utf8.first == UInt8(ascii: "/"), "\(template) must begin with /")
        let segments = template.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        return segments.map { segment in
            guard segment.hasPrefix("{"), segment.hasSuffix("}") else {
                precondition(!segment.contains { "{}%?#".contains($0) }, "bad template \(template)")
                return .literal(Array(segment.utf8))
            }
            return .parameter(String(segment.dropFirst().dropLast()))
        }
    }

    /// Adds a route. The same method on the same path twice is a programming error and traps.
    mutating func mount(_ mounted: MountedRoute) {
        var node = 0
        for piece in RouteTree.pieces(of: mounted.route.template) {
            node = child(of: node, for: piece)
        }
        precondition(
            !nodes[node].routes.contains { $0.route.method == mounted.route.method },
            "\(mounted.route.method) \(mounted.route.template) is mounted twice")
        nodes[node].routes.append(mounted)
    }

    /// Gives each route the index of its template in `templates`. Missing templates are added.
    mutating func assignRows(in templates: inout [String]) {
        for node in nodes.indices {
            for (index, mounted) in nodes[node].routes.enumerated() {
                let template = mounted.route.template
                let known = templates.firstIndex(of: template)
                if known == nil { templates.append(template) }
                nodes[node].routes[index] = MountedRoute(
                    route: mounted.route, errors: mounted.errors,
                    row: known ?? templates.count - 1)
            }
        }
    }

    private mutating func child(of node: Int, for piece: Piece) -> Int {
        let known: Int?
        switch piece {
        case .literal(let segment):
            known = nodes[node].literals.first { $0.segment == segment }?.child
        case .parameter: known = nodes[node].parameter
        }
        if let known { return known }
        nodes.append(Node())
        switch piece {
        case .literal(let segment): nodes[node].literals.append((segment, nodes.count - 1))
        case .parameter: nodes[node].parameter = nodes.count - 1
        }
        return nodes.count - 1
    }

    /// The routes of every method at this path, and the values of their parameters; nil is 404.
    func find(_ head: RequestHead) -> (routes: [MountedRoute], values: [String])? {
        var values: [String] = []
        guard let node = find(PathSegments(head), from: 0, &values) else { return nil }
        return (nodes[node].routes, values)
    }

    /// The depth of the recursion is at most that of the longest template.
    private func find(_ rest: PathSegments, from node: Int, _ values: inout [String]) -> Int? {
        var rest = rest
        guard let segment = rest.next() else { return nodes[node].routes.isEmpty ? nil : node }
        for (literal, child) in nodes[node].literals where literal[...] == segment {
            if let found = find(rest, from: child, &values) { return found }
        }
        guard let child = nodes[node].parameter, !segment.isEmpty else { return nil }
        values.append(String(decoding: segment, as: UTF8.self))
        if let found = find(rest, from: child, &values) { return found }
        values.removeLast()
        return nil
    }
}
