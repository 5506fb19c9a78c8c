public import HTTPEngine

/// Every surface that one process serves. An API joins with a folder and a line here.
public func allRoutes(_ surfaces: Surfaces) -> [RouteGroup] {
    [
        surfaces.agent.routes,
        surfaces.accounts.routes,
        surfaces.hashLogin.routes,
        surfaces.discovery.routes,
        surfaces.operations.routes,
    ]
}

/// The surfaces, built once by the program.
public struct Surfaces: Sendable {
    public let agent: AgentAPI
    public let accounts: AccountsAPI
    public let hashLogin: HashLoginAPI
    public let discovery: DiscoveryAPI
    public let operations: OperationsAPI

    public init(
        agent: AgentAPI, accounts: AccountsAPI, hashLogin: HashLoginAPI, discovery: DiscoveryAPI,
        operations: OperationsAPI
    ) {
        self.agent = agent
        self.accounts = accounts
        self.hashLogin = hashLogin
        self.discovery = discovery
        self.operations = operations
    }

    /// Renders what happens outside every surface: an unknown path, a request that is no HTTP.
    public var fallback: ErrorRenderer { agent.errors.renderer }
}
