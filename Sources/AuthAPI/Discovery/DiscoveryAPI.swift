public import AuthCore
public import HTTPEngine
internal import StrictJSON

/// What clients and mail stores look up: public keys, `llms.txt`, `openapi.json`.
public struct DiscoveryAPI: Sendable {
    private let keys: KeyRing
    private let clock: @Sendable () -> Instant
    private let errors: AgentErrors
    private let llmsText: [UInt8]
    private let openAPI: [UInt8]

    /// - Parameters:
    ///   - difficulty: what a quiet client is asked for, in leading zero bits.
    ///   - bodyLimit: what a body may have, in bytes.
    public init(
        agent: AgentAPI, keys: KeyRing, difficulty: Int, bodyLimit: Int,
        clock: @escaping @Sendable () -> Instant
    ) {
        self.keys = keys
        self.clock = clock
        errors = agent.errors
        let publicURL = agent.errors.publicURL
        llmsText = Array(
            LLMsText(
                auth: agent.auth, difficulty: difficulty, bodyLimit: bodyLimit,
                publicURL: publicURL
            ).text.utf8)
        openAPI = Array(
            Template.fill(PackageResources.openapi_json, ["public_url": publicURL]).utf8)
    }

    public var routes: RouteGroup {
        RouteGroup(
            prefixes: [
                "/.well-known/jwks.json", "/.well-known/login-jwks.json", "/llms.txt",
                "/openapi.json",
            ],
            errors: errors.renderer,
            routes: [
                Route(.get, "/.well-known/jwks.json") { _ in try await keySet(of: .capability) },
                Route(.get, "/.well-known/login-jwks.json") { _ in try await keySet(of: .login) },
                Route(.get, "/llms.txt") { _ in
                    document(llmsText, type: "text/plain; charset=utf-8")
                },
                Route(.get, "/openapi.json") { _ in
                    document(openAPI, type: "application/json")
                },
            ])
    }

    /// The keys that verify tokens of one use (RFC 7517 §5). Each has a set of its own: mail stores
    /// get the capability keys and never meet a token whose subject somebody chose himself.
    private func keySet(of use: KeyUse) async throws -> Response {
        let published: [PublishedKey]
        do {
            published = try await keys.published(use, at: clock())
        } catch {
            guard let refusal = Refusal(error) else { throw error }
            return errors.render(refusal)
        }
        let body = JSONWriter.object { set in
            set.array("keys") { keys in
                for key in published { keys.element { write(key, to: &$0) } }
            }
        }
        return document(body, type: "application/jwk-set+json")
    }

    private func write(_ key: PublishedKey, to member: inout JSONWriter) {
        member.member("kty", "RSA")
        member.member("use", "sig")
        member.member("alg", "RS256")
        member.member("kid", key.id)
        member.member("n", key.modulus)
        member.member("e", key.exponent)
    }

    private func document(_ body: [UInt8], type: String) -> Response {
        Response(
            status: .ok,
            headers: [
                ("Content-Type", type), ("Cache-Control", "public, max-age=300"),
                ("X-Content-Type-Options", "nosniff"),
            ],
            body: body)
    }
}
