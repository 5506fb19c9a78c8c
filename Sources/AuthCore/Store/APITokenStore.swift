/// Where Pro API tokens live. Atomicity, events and errors as in ``AccountStore``.
public protocol APITokenStore: Sendable {
    /// Adds the token; `false` when its owner has `limit` already that are neither revoked nor
    /// expired when this one is made. Of the owner's that have ended only the latest 100 are kept,
    /// so that what an owner has is bounded however many are made and revoked.
    func insert(_ token: APIToken, limit: Int, recording event: AuditEvent) async throws -> Bool

    /// The token with this digest, revoked or not, and whose it is; `nil` when it ended so long ago
    /// that it is forgotten. One look at the store, for every request with an API token asks.
    func holder(digest: APIKeyDigest) async throws -> (token: APIToken, owner: User)?

    /// The owner's tokens, oldest first: all that are not revoked, and the latest 100 that are.
    func tokens(of owner: UserID) async throws -> [APIToken]

    /// Ends the token; `false` when the owner has no such token or it was revoked already.
    func revoke(_ id: APITokenID, of owner: UserID, at now: Instant, recording event: AuditEvent)
        async throws -> Bool

    /// Notes a use, unless one was noted at or after `since`.
    func noteUse(of id: APITokenID, at now: Instant, unlessSince since: Instant) async throws
}
