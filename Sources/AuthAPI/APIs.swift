public import HTTPEngine

/// The APIs that one process serves, built once by the program. A further API needs a folder and a
/// line here.
public struct APIs: Sendable {
    private let agent: AgentAPI
    private let groups: [RouteGroup]
    private let challenges: [RouteGroup]

    public init(
        agent: AgentAPI, accounts: AccountsAPI, hashLogin: HashLoginAPI, discovery: DiscoveryAPI,
        web: WebAPI, capturedMail: CapturedMailAPI? = nil, operations: OperationsAPI,
        acmeChallenges: ACMEChallenges? = nil, services: ServicesAPI
    ) {
        self.agent = agent
        challenges = acmeChallenges.map { [$0.routes] } ?? []
        groups =
            [
                agent.routes, JMAPAPI(agent: agent)?.routes, MessagesAPI(accounts: accounts).routes,
                accounts.routes, hashLogin.routes, discovery.routes,
                web.routes, operations.routes, services.publicRoutes,
                capturedMail?.routes,
            ].compactMap(\.self) + challenges
    }

    /// The routes of every API. Requests that no API covers (an unknown path, a request that is not
    /// HTTP) get errors in the form of the agent API.
    /// - Parameter test: the endpoints that exist in the test profile only.
    public func router(with test: TestAPI? = nil) -> Router {
        Router(
            groups: groups + (test.map { [$0.routes] } ?? []), fallback: agent.errors.renderer)
    }

    /// The routes of a listener without TLS: ACME challenges, and a redirect for every other
    /// request.
    /// - Parameter origin: scheme and authority of the public URL.
    public func redirects(to origin: String) -> Router {
        Router(groups: challenges, redirectingTo: origin, fallback: agent.errors.renderer)
    }
}
