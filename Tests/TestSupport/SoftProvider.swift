internal import AuthCore
public import Cryptography
public import IdentityProviders
public import Networking
public import StrictJSON
internal import Synchronization

/// An OpenID provider and GitHub in memory, with which a person can sign in, and which can be told
/// to misbehave.
public final class SoftProvider: ProviderClient.Transport {
    public static let issuer = "https://id.test"
    /// The same provider by another name.
    public static let workIssuer = "https://work-id.test"
    public static let clientID = "client-1"
    public static let clientSecret = "secret & more"

    /// Who signs in.
    public struct Person: Sendable {
        public var subject: String
        public var email: String?
        public var isVerified: Bool

        public init(_ subject: String, _ email: String?, isVerified: Bool = true) {
            self.subject = subject
            self.email = email
            self.isVerified = isVerified
        }
    }

    /// What the provider does.
    public struct Behaviour: Sendable {
        public var key: PrivateKey
        public var keyID: String? = "k1"
        /// `alg` of the header; `nil` for that of the key.
        public var algorithm: String?
        /// Makes the signature in place of the key.
        public var sign: (@Sendable ([UInt8]) throws -> [UInt8])?
        /// Claims that replace the right ones; `null` removes one.
        public var claims: [String: JSONValue] = [:]
        /// Members of the header that are added.
        public var header: [String: JSONValue] = [:]
        /// Members of the metadata that replace the right ones; `null` removes one.
        public var metadata: [String: JSONValue] = [:]
        /// The email is only in the answer of the UserInfo endpoint.
        public var hidesEmail = false
        /// `sub` of the answer of the UserInfo endpoint; `nil` for the right one.
        public var userInfoSubject: String?
        /// Answers in place of the right ones, by path.
        public var answers: [String: (status: Int, body: [UInt8])] = [:]
        /// Paths that cannot be reached.
        public var unreachable: Set<String> = []
    }

    private struct State: Sendable {
        var behaviour: Behaviour
        /// By code: who has signed in, and the parameters that the browser brought.
        var codes: [String: (person: Person, query: [String: String])] = [:]
        var requests: [ProviderRequest] = []
        var last: Person?
    }

    private let state: Mutex<State>
    private let now: @Sendable () -> Int64

    /// - Parameter now: seconds since 1970.
    public init(
        key: PrivateKey? = nil, now: @escaping @Sendable () -> Int64
    ) throws {
        state = Mutex(State(behaviour: Behaviour(key: try key ?? PrivateKey.generate(.es256))))
        self.now = now
    }

    public func change(_ change: (inout Behaviour) -> Void) {
        state.withLock { change(&$0.behaviour) }
    }

    public var requests: [ProviderRequest] { state.withLock { $0.requests } }

    /// The paths that were asked for.
    public var paths: [String] { requests.map { Self.path(of: $0.url) } }

    public static func settings(
        _ kind: ProviderSettings.Kind = .openID(issuer: issuer)
    ) -> ProviderSettings {
        ProviderSettings(
            kind: kind, clientID: clientID,
            clientSecret: SecretBytes(Array(clientSecret.utf8)), scopes: ["openid", "email"])
    }

    public static let gitHub = ProviderSettings.Kind.gitHub(
        site: "https://github.test", api: "https://api.github.test")

    /// The parameters of a URL.
    public static func query(of url: String) -> [String: String] {
        let query = url.split(separator: "?", maxSplits: 1).last ?? ""
        return fields(Array(query.utf8))
    }

    /// What the browser brings back after the person has signed in.
    /// - Parameter url: where the browser was sent to.
    public func signIn(_ person: Person, at url: String) -> (code: String, state: String) {
        let query = Self.query(of: url)
        return state.withLock { state in
            let code = "code-\(state.codes.count + 1)"
            state.codes[code] = (person, query)
            return (code, query["state"] ?? "")
        }
    }

    public func accepts(_ url: String) -> Bool { url.hasPrefix("https://") }

    public func send(
        _ request: ProviderRequest, for client: IPAddress
    ) async throws(ProviderError) -> (status: Int, body: [UInt8]) {
        let path = Self.path(of: request.url)
        let (behaviour, answer) = state.withLock { state in
            state.requests.append(request)
            return (state.behaviour, state.behaviour.answers[path])
        }
        guard !behaviour.unreachable.contains(path) else { throw .unavailable("not reached") }
        if let answer { return answer }
        switch path {
        case "/.well-known/openid-configuration":
            return (200, metadata(of: Self.origin(of: request.url), behaviour))
        case "/keys": return (200, keySet(behaviour))
        case "/token", "/login/oauth/access_token":
            return token(request, from: Self.origin(of: request.url), behaviour)
        case "/userinfo": return (200, userInfo(behaviour))
        case "/user":
            return (200, Array(#"{"id":\#(last?.subject ?? "0"),"login":"somebody"}"#.utf8))
        case "/user/emails":
            let email = last?.email.map { #""\#($0)""# } ?? "null"
            let list = #"""
                [{"email":"other@example.com","primary":false,"verified":true},
                {"email":\#(email),"primary":true,"verified":\#(last?.isVerified == true)}]
                """#
            return (200, Array(list.utf8))
        default: return (404, [])
        }
    }

    private var last: Person? { state.withLock { $0.last } }

    private func metadata(of issuer: String, _ behaviour: Behaviour) -> [UInt8] {
        let members: [String: JSONValue] = [
            "issuer": .string(issuer),
            "authorization_endpoint": .string(issuer + "/authorize"),
            "token_endpoint": .string(issuer + "/token"),
            "jwks_uri": .string(issuer + "/keys"),
            "userinfo_endpoint": .string(issuer + "/userinfo"),
        ].merging(behaviour.metadata) { $1 }
        return Self.object(members)
    }

    private func keySet(_ behaviour: Behaviour) -> [UInt8] {
        JSONWriter.object { body in
            body.array("keys") { list in
                list.element { key in
                    if let id = behaviour.keyID { key.member("kid", id) }
                    Self.write(behaviour.key.publicKey.parameters, to: &key)
                }
            }
        }
    }

    public static func write(_ parameters: PublicKey.Parameters, to key: inout JSONWriter) {
        func number(_ name: String, _ bytes: [UInt8]) {
            key.member(name, Base64URL.encode(bytes))
        }
        switch parameters {
        case .rsa(let modulus, let exponent):
            key.member("kty", "RSA")
            number("n", modulus)
            number("e", exponent)
        case .p256(let x, let y):
            key.member("kty", "EC")
            key.member("crv", "P-256")
            number("x", x)
            number("y", y)
        case .ed25519(let x):
            key.member("kty", "OKP")
            key.member("crv", "Ed25519")
            number("x", x)
        }
    }

    private func token(
        _ request: ProviderRequest, from issuer: String, _ behaviour: Behaviour
    ) -> (status: Int, body: [UInt8]) {
        let fields = Self.fields(request.form ?? [])
        let found = state.withLock { state in
            fields["code"].flatMap { state.codes.removeValue(forKey: $0) }
        }
        guard let (person, query) = found, fields["grant_type"] == "authorization_code",
            fields["redirect_uri"] == query["redirect_uri"],
            let verifier = fields["code_verifier"],
            Base64URL.encode(SHA256.digest(Array(verifier.utf8))) == query["code_challenge"],
            isClient(request, fields)
        else { return (400, Array(#"{"error":"invalid_grant"}"#.utf8)) }
        state.withLock { $0.last = person }
        return (
            200,
            JSONWriter.object { body in
                body.member("access_token", "access-1")
                body.member("token_type", "Bearer")
                body.member(
                    "id_token", idToken(person, nonce: query["nonce"], of: issuer, behaviour))
            }
        )
    }

    private func isClient(_ request: ProviderRequest, _ fields: [String: String]) -> Bool {
        if fields["client_secret"] == Self.clientSecret { return true }
        let expected = Base64.encode(Array("client-1:secret%20%26%20more".utf8))
        return request.headers.contains { $0 == ("Authorization", "Basic \(expected)") }
    }

    /// An ID token, right but for what the behaviour changes.
    public func idToken(
        _ person: Person, nonce: String?, of issuer: String = issuer,
        _ given: Behaviour? = nil
    ) -> String {
        let behaviour = given ?? state.withLock { $0.behaviour }
        var claims: [String: JSONValue] = [
            "iss": .string(issuer), "aud": .string(Self.clientID),
            "sub": .string(person.subject), "iat": .integer(now()), "exp": .integer(now() + 300),
        ]
        if let nonce { claims["nonce"] = .string(nonce) }
        if let email = person.email, !behaviour.hidesEmail {
            claims["email"] = .string(email)
            claims["email_verified"] = .bool(person.isVerified)
        }
        var header: [String: JSONValue] = [
            "alg": .string(behaviour.algorithm ?? behaviour.key.algorithm.rawValue)
        ]
        if let id = behaviour.keyID { header["kid"] = .string(id) }
        let parts = [
            header.merging(behaviour.header) { $1 }, claims.merging(behaviour.claims) { $1 },
        ]
        let message = parts.map { Base64URL.encode(Self.object($0)) }.joined(separator: ".")
        let bytes = Array(message.utf8)
        let signature = (try? behaviour.sign?(bytes) ?? behaviour.key.sign(bytes)) ?? []
        return "\(message).\(Base64URL.encode(signature))"
    }

    private func userInfo(_ behaviour: Behaviour) -> [UInt8] {
        guard let person = last else { return [] }
        return JSONWriter.object { body in
            body.member("sub", behaviour.userInfoSubject ?? person.subject)
            body.member("email", person.email)
            body.member("email_verified", person.isVerified)
        }
    }

    private static func object(_ members: [String: JSONValue]) -> [UInt8] {
        JSONWriter.object { body in
            for (name, value) in members.sorted(by: { $0.key < $1.key }) where value != .null {
                body.member(name, value: value)
            }
        }
    }

    private static func origin(of url: String) -> String {
        String(url.dropLast(path(of: url).count))
    }

    private static func path(of url: String) -> String {
        let rest = url.dropFirst("https://".count)
        return String(rest[(rest.firstIndex(of: "/") ?? rest.endIndex)...])
    }

    private static func fields(_ form: [UInt8]) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in form.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            fields[decoded(parts[0])] = decoded(parts.count == 2 ? parts[1] : [])
        }
        return fields
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            bytes += Hex.decode(rest.prefix(2)) ?? []
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension LoginProvider {
    static func forTests(_ provider: SoftProvider) -> [LoginProvider] {
        let work = Domain(parsing: "work.test").map { [$0] } ?? []
        return [
            ("id", "Identity & Co", .openID(issuer: SoftProvider.issuer), []),
            ("work", "Work", .openID(issuer: SoftProvider.workIssuer), work),
            ("github", "GitHub", SoftProvider.gitHub, []),
        ].map { name, label, kind, domains in
            LoginProvider(
                name: name, label: label, allowedDomains: domains,
                client: ProviderClient(SoftProvider.settings(kind), transport: provider))
        }
    }
}
