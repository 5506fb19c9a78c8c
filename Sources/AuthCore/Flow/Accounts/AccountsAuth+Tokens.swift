internal import Cryptography

/// A Pro API token as it is handed out, with its secret, which is shown this once.
public struct IssuedAPIToken: Sendable {
    public let token: APIToken
    /// Goes into the one answer that hands it out and nowhere else.
    public let secret: String
}

extension AccountsAuth {
    /// Tokens of a user that are not revoked.
    static let maximumAPITokens = 100
    public static let maximumTokenNameOctets = 200

    /// Makes an API token for the user.
    /// - Parameter expiry: `nil` for one that never ends by itself.
    public func makeAPIToken(
        named name: String, expiry: Instant?, for user: User, by caller: Caller
    ) async throws -> IssuedAPIToken {
        let secret = Self.apiTokenPrefix + Base64URL.encode(random(32))
        let token = APIToken(
            id: APITokenID(random: random(16)), owner: user.id, name: name,
            digest: APIKeyDigest(bytes: SHA256.digest(Array(secret.utf8))), created: caller.now,
            expiry: expiry)
        let inserted = try await stores.tokens.insert(
            token, limit: Self.maximumAPITokens,
            recording: event(.tokenCreated, token.id, user, caller))
        guard inserted else { throw Refusal.tokenLimitReached }
        return IssuedAPIToken(token: token, secret: secret)
    }

    public func apiTokens(of user: User) async throws -> [APIToken] {
        try await stores.tokens.tokens(of: user.id)
    }

    /// Ends a token at once.
    public func revokeAPIToken(
        _ id: APITokenID, of user: User, by caller: Caller
    ) async throws {
        let revoked = try await stores.tokens.revoke(
            id, of: user.id, at: caller.now, recording: event(.tokenRevoked, id, user, caller))
        guard revoked else { throw Refusal.notFound }
    }

    private func event(
        _ kind: AuditEvent.Kind, _ id: APITokenID, _ user: User, _ caller: Caller
    ) -> AuditEvent {
        AuditEvent(kind, by: caller, actor: "user:\(user.id)", subject: id.text)
    }
}
