/// A typed `{name}` of a route template: what it is called and what text it takes.
public struct PathParameter<Value: Sendable>: Sendable {
    public let name: String
    let parse: @Sendable (String) -> Value?

    /// - Parameter parse: gets the percent-decoded segment; nil is the route's 404.
    public init(_ name: String, parse: @escaping @Sendable (String) -> Value?) {
        self.name = name
        self.parse = parse
    }
}

/// A path parameter's text is not of its type: there is nothing at this path.
public struct PathParameterMismatch: Error, Hashable, Sendable {
    public let name: String
}

/// The values of a matched route's parameters.
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
