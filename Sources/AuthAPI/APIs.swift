public import HTTPEngine

/// The APIs that one process serves, built once by the program. A further API needs a folder and a
/// line here.
public struct APIs: Sendable {
    private let agent: AgentAPI
    private let groups: [RouteGroup]

    public init(
        agent: AgentAPI, accounts: AccountsAPI, hashLogin: HashLoginAPI, discovery: DiscoveryAPI,
        operations: OperationsAPI, services: ServicesAPI
    ) {
        self.agent = agent
        groups = [
            agent.routes, accounts.routes, hashLogin.routes, discovery.routes, operations.routes,
            services.publicRoutes,
        ]
    }

    /// The routes of every API. What no API covers (an unknown path, a request that is not HTTP) is
    /// answered in the error shape of the agent API.
    /// - Parameter test: the endpoints that exist in the test profile only.
    public func router(with test: TestAPI? = nil) -> Router {
        Router(
            groups: groups + (test.map { [$0.routes] } ?? []), fallback: agent.errors.renderer)
    }
}
