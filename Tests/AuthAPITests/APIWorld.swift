import AuthCore
import Cryptography
import HTTPEngine
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI

/// All APIs over a world in memory, called without a socket.
struct APIWorld {
    let world: AgentWorld
    let router: Router
    let agent: AgentAPI
    let services: ServicesAPI
    let web: WebAPI
    let groups: [RouteGroup]
    let metrics = Metrics()
    /// The security events that have been passed on, with their number.
    let events = Record<(SecurityEvent, Int)>()
    let folder: SecurityEvents

    init(
        _ world: AgentWorld? = nil, mailStoreURL: String? = nil,
        jmapLimits: JMAPDirectory.Limits = .init(), mail: AccountsMail = .none,
        storeSessions: StoreSessions? = nil,
        isDraining: Bool = false,
        pingDatabase: @escaping @Sendable () async throws -> Void = {},
        servicesSettings: ServicesAPI.Settings = .init()
    ) throws {
        let world = try world ?? AgentWorld()
        let clock = world.clock.clocks
        self.world = world
        folder = SecurityEvents { [events] in events.add(($0, $1)) }
        agent = AgentAPI(
            agents: world.agents, publicURL: AgentWorld.issuer,
            jmap: JMAPDirectory(
                mailStoreURL: mailStoreURL, publicURL: AgentWorld.issuer,
                paths: JMAPDirectory.Paths(), limits: jmapLimits),
            storeSessions: storeSessions, mail: mail, limiter: world.limiter, events: folder,
            clock: clock)
        let accounts = AccountsAPI(
            mailboxes: world.mailboxes, users: world.users, links: world.emailLinks,
            sessions: world.userSessions, passkeys: world.passkeys,
            secondFactors: world.secondFactors, providerLogins: world.providerLogins,
            apiTokens: world.apiTokens, domains: world.domains, webhooks: world.webhooks,
            authenticator: world.authenticator,
            publicURL: AgentWorld.issuer, mail: mail, limiter: world.limiter, events: folder,
            clock: clock)
        let hashLogin = HashLoginAPI(
            logins: world.hashLogins, publicURL: AgentWorld.issuer, limiter: world.limiter,
            events: folder, clock: clock)
        let discovery = DiscoveryAPI(
            agent: agent, keys: world.keys, difficulty: 6, bodyLimit: 65_536, clock: clock)
        web = WebAPI(
            agent: agent, settings: world.accountsSettings, sendsMail: world.emailLinks.areSent,
            providers: world.providerLogins.providers)
        let operations = OperationsAPI(
            agent: agent, isDraining: { isDraining }, pingDatabase: pingDatabase,
            clock: { world.clock.monotonic })
        services = ServicesAPI(
            services: world.mailServices, webhookEvents: world.webhookEvents,
            settings: servicesSettings, metrics: metrics, limiter: world.limiter, events: folder,
            clock: clock)
        groups =
            [
                agent.routes, MessagesAPI(accounts: accounts).routes, accounts.routes,
                hashLogin.routes, discovery.routes, web.routes,
                operations.routes, services.publicRoutes,
            ] + (JMAPAPI(agent: agent).map { [$0.routes] } ?? [])
        router =
            APIs(
                agent: agent, accounts: accounts, hashLogin: hashLogin, discovery: discovery,
                web: web, operations: operations, services: services
            ).router()
    }

    func call(
        _ method: HTTPEngine.Method, _ target: String, bearer: String? = nil, json: String? = nil,
        headers: [(String, String)] = []
    ) async -> Response {
        var headers = headers
        if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
        if json != nil { headers.append(("Content-Type", "application/json")) }
        return await router.respond(
            to: Request(
                method: method, target: target, headers: headers, body: Array((json ?? "").utf8)))
    }

    /// A challenge token with a proof that solves it.
    func solvedChallenge() async throws -> (token: String, proof: Proof) {
        let issued = try await world.agents.issueChallenge(to: world.caller)
        return (issued.token, try AgentWorld.solve(issued.challenge))
    }

    /// Signs up through the API.
    func signUp(_ name: String) async throws -> (session: String, body: JSONObject) {
        let (challenge, proof) = try await solvedChallenge()
        let response = await call(
            .post, "/api/v1/session", bearer: challenge,
            json: proof.json(#""username":"\#(name)""#))
        #expect(response.status == .created)
        return (try response.bearer, try response.json)
    }
}

extension Proof {
    /// The body of POST /api/v1/session with one more member.
    func json(_ member: String) -> String {
        #"{"powHex":"\#(Hex.encode(digest ?? []))","nonce":"\#(nonce?.text ?? "")",\#(member)}"#
    }
}

extension Response {
    var json: JSONObject {
        get throws {
            guard case .object(let object) = try JSONValue.parse(body) else { throw NoObject() }
            return object
        }
    }

    /// The token of the response's `Authorization` header.
    var bearer: String {
        get throws {
            let value = try #require(header("Authorization"))
            #expect(value.hasPrefix("Bearer "))
            return String(value.dropFirst("Bearer ".count))
        }
    }

    /// The `error` member, checked to have all that an agent needs.
    var agentError: (message: String, hint: String, anchor: String) {
        get throws {
            let error = try #require(try json.object("error"))
            let link = try #require(error.text("docs_url"))
            let prefix = "\(AgentWorld.issuer)/llms.txt#"
            #expect(link.hasPrefix(prefix))
            #expect(header("Cache-Control") == "no-store")
            return (
                try #require(error.text("message")), try #require(error.text("hint")),
                String(link.dropFirst(prefix.count))
            )
        }
    }
}

struct NoObject: Error {}

extension JSONObject {
    func text(_ name: String) -> String? { self[name]?.string }
    func number(_ name: String) -> Int64? { self[name]?.integer }
    func object(_ name: String) -> JSONObject? { self[name]?.object }
    func list(_ name: String) -> [JSONValue]? { self[name]?.array }

    var names: [String] { members.map(\.name) }
}
