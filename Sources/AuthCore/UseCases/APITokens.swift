internal import Cryptography

/// The API tokens of Pro users: create, list, revoke.
public struct APITokens: UseCases {
    public typealias Failure = AccountsError

    /// A new API token with its secret, which is shown only once.
    public struct Issued: Sendable {
        public let token: APIToken
        /// Appears in the response that issues it and nowhere else.
        public let secret: String
    }

    /// Tokens of one user that are neither revoked nor expired.
    static let maximumCount = 100

    private let tokens: any APITokenStore
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: returns that many random bytes, fit for keys.
    public init(tokens: any APITokenStore, random: @escaping @Sendable (Int) -> [UInt8]) {
        self.tokens = tokens
        self.random = random
    }

    /// Creates a token.
    /// - Parameters:
    ///   - name: 1 to ``APIToken/maximumNameBytes`` bytes.
    ///   - lifetime: `nil` for a token that ends with `parent`, or never when there is none.
    ///   - scopes: what the token may be used for; all that `parent` may when `nil`.
    ///   - parent: the API token that asks for it; `nil` when the user does.
    /// - Throws: ``AccountsError/forbidden`` for a scope that `parent` does not have and for a time
    ///   after its end, ``AccountsError/tokenLimitReached``, ``AccountsError/invalidToken`` when
    ///   what the user asked with has ended meanwhile.
    public func create(
        named name: String, lifetime: Duration?, scopes: Set<APIToken.Scope>? = nil,
        from parent: APIToken? = nil, for user: User, by caller: Caller
    ) async throws(AccountsError) -> Issued {
        let held = parent?.scopes ?? APIToken.Scope.all
        let scopes = scopes ?? held
        guard scopes.isSubset(of: held) else { throw .forbidden }
        let expiry = lifetime.map { caller.now.advanced(by: $0) } ?? parent?.expiry
        if let expiry, let last = parent?.expiry, expiry > last { throw .forbidden }
        let secret = APIToken.prefix + Base64URL.encode(random(32))
        let token = APIToken(
            id: APITokenID(random: random(16)), owner: user.id, name: name,
            digest: APIKeyDigest(of: secret), scopes: scopes, created: caller.now,
            expiry: expiry)
        let issuer = parent.map { APIToken.Issuer.token($0.id) }
        switch try await attempt(
            await tokens.insert(
                token, by: issuer ?? .session(version: user.credentialVersion),
                limit: Self.maximumCount, recording: event(.tokenCreated, token.id, user, caller)))
        {
        case .inserted: return Issued(token: token, secret: secret)
        case .rejected: throw .tokenLimitReached
        case .issuerEnded: throw .invalidToken
        }
    }

    public func list(of user: User) async throws(AccountsError) -> [APIToken] {
        try await attempt(await tokens.tokens(of: user.id))
    }

    /// Revokes a token at once.
    /// - Parameter id: `nil` for a text that cannot be an id.
    /// - Throws: ``AccountsError/notFound``.
    public func revoke(
        _ id: APITokenID?, of user: User, by caller: Caller
    ) async throws(AccountsError) {
        guard let id,
            try await attempt(
                await tokens.revoke(
                    id, of: user.id, at: caller.now,
                    recording: event(.tokenRevoked, id, user, caller)))
        else { throw .notFound }
    }

    private func event(
        _ kind: AuditEvent.Kind, _ id: APITokenID, _ user: User, _ caller: Caller
    ) -> AuditEvent {
        AuditEvent(kind, by: caller, actor: .user(user.id), subject: id.text)
    }
}
