public import AuthCore
internal import CEmbeddedFiles
internal import Cryptography
public import HTTPEngine
internal import StrictJSON

/// Documents for clients and mail stores: public keys, `llms.txt`, `openapi.json`. Not rate
/// limited.
public struct DiscoveryAPI: Sendable {
    private let keys: KeyRing
    private let errors: AgentErrors
    private let pipeline: Pipeline<AgentError>
    private let llmsText: [UInt8]
    private let openAPI: [UInt8]

    /// - Parameters:
    ///   - difficulty: the difficulty of a client's first challenge, in leading zero bits.
    ///   - bodyLimit: the greatest size of a request body, in bytes.
    public init(
        agent: AgentAPI, keys: KeyRing, difficulty: Int, bodyLimit: Int,
        clock: ServerClock
    ) {
        self.keys = keys
        let errors = agent.errors
        self.errors = errors
        pipeline = Pipeline(limiter: nil, clock: clock, events: nil) { error, _ in
            errors.response(error)
        }
        let publicURL = agent.errors.publicURL
        llmsText = Array(
            LLMsText(
                agents: agent.agents, difficulty: difficulty, bodyLimit: bodyLimit,
                publicURL: publicURL
            ).text.utf8)
        openAPI = Array(
            Template.fill(
                EmbeddedFile.openapi_json.bytes,
                [
                    "public_url": publicURL,
                    "session_cookie": SessionCookie(publicURL: publicURL).name,
                ]
            ).utf8)
    }

    public var routes: RouteGroup {
        RouteGroup(
            prefixes: [
                "/.well-known/jwks.json", "/.well-known/login-jwks.json", "/llms.txt",
                "/openapi.json",
            ],
            errors: errors.renderer,
            routes: [
                pipeline.route(.get, "/.well-known/jwks.json", .none()) {
                    request throws(AgentError) in
                    try await keySet(of: .capability, at: request.caller.now)
                },
                pipeline.route(.get, "/.well-known/login-jwks.json", .none()) {
                    request throws(AgentError) in
                    try await keySet(of: .login, at: request.caller.now)
                },
                pipeline.route(.get, "/llms.txt", .none()) { _ throws(AgentError) in
                    document(llmsText, type: "text/plain; charset=utf-8")
                },
                pipeline.route(.get, "/openapi.json", .none()) { _ throws(AgentError) in
                    document(openAPI, type: "application/json")
                },
            ])
    }

    /// The keys that verify tokens of one use (RFC 7517 §5). Each use has a separate set. A mail
    /// store gets only the capability keys, because anybody can choose the subject of a login
    /// token.
    private func keySet(of use: KeyUse, at now: Instant) async throws(AgentError) -> Response {
        let published: [PublishedKey]
        do {
            published = try await keys.published(use, at: now)
        } catch {
            throw .common(CommonError(error))
        }
        let body = JSONWriter.object { set in
            set.array("keys") { keys in
                for key in published { keys.element { write(key, to: &$0) } }
            }
        }
        return document(body, type: "application/jwk-set+json")
    }

    /// A JWK (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2).
    private func write(_ key: PublishedKey, to member: inout JSONWriter) {
        switch key.parameters {
        case .rsa: member.member("kty", "RSA")
        case .p256: member.member("kty", "EC")
        case .ed25519: member.member("kty", "OKP")
        }
        member.member("use", "sig")
        member.member("alg", key.algorithm.rawValue)
        member.member("kid", key.id)
        switch key.parameters {
        case .rsa(let modulus, let exponent):
            member.member("n", Base64URL.encode(modulus))
            member.member("e", Base64URL.encode(exponent))
        case .p256(let x, let y):
            member.member("crv", "P-256")
            member.member("x", Base64URL.encode(x))
            member.member("y", Base64URL.encode(y))
        case .ed25519(let x):
            member.member("crv", "Ed25519")
            member.member("x", Base64URL.encode(x))
        }
    }

    private func document(_ body: [UInt8], type: String) -> Response {
        Response(
            status: .ok,
            headers: [("Content-Type", type), ("Cache-Control", "public, max-age=300")],
            body: body)
    }
}
