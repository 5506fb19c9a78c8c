/// Stores the API tokens of Pro users. Atomicity, events and errors as in ``AccountStore``.
public protocol APITokenStore: Sendable {
    /// Adds the token, unless the owner already has `limit` tokens that are neither revoked nor
    /// expired at its creation. It also adds nothing if the credential of the request has ended
    /// meanwhile. Otherwise the new token could outlive the password change that ends all tokens.
    ///
    /// Of the owner's revoked and expired tokens only the latest 100 are kept, so that the number
    /// of an owner's rows is bounded.
    func insert(
        _ token: APIToken, by issuer: APIToken.Issuer, limit: Int, recording event: AuditEvent
    ) async throws -> APITokenInsertion

    /// The token with this digest, revoked or not, and its owner; `nil` when there is none or its
    /// row has been removed. One query, because every request with an API token needs it.
    func holder(digest: APIKeyDigest) async throws -> (token: APIToken, owner: User)?

    /// The owner's tokens, oldest first: all that are not revoked, and the latest 100 revoked ones.
    func tokens(of owner: UserID) async throws -> [APIToken]

    /// Revokes the token.
    /// - Returns: `false` when the owner has no such token or it was revoked before.
    func revoke(_ id: APITokenID, of owner: UserID, at now: Instant, recording event: AuditEvent)
        async throws -> Bool

    /// Stores `now` as the time of the last use, unless a use at or after `since` is stored.
    func noteUse(of id: APITokenID, at now: Instant, unlessSince since: Instant) async throws
}

/// The result of adding an API token.
public enum APITokenInsertion: Equatable, Sendable {
    case inserted
    /// The limit is reached, or the token's id or digest is there already.
    case rejected
    /// The issuer is not valid any more.
    case issuerEnded
}
