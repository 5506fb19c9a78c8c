/// Stores which challenges have been spent and which tokens their holders have ended, across
/// restarts and for all servers that share a database. Both are ids that do not count again until
/// they expire.
public protocol ChallengeLedger: Sendable {
    /// Marks `id` as spent. Of any number of concurrent calls with one `id`, on any number of
    /// servers, exactly one returns `true`, and only once the mark is durable.
    /// - Parameter expiry: when the challenge expires. The mark may be removed then, because the
    ///   token is invalid from then on.
    func spend(_ id: String, expiry: Instant) async throws -> Bool

    /// Marks `id` until `expiry`. A mark that ended by `now` is replaced. So is one that ends more
    /// than ``TokenAuthority/clockSkew`` after `expiry`, because it was made before the clock was
    /// set back. Of any number of concurrent calls with one `id`, on any number of servers, one
    /// returns `true` in that time.
    func hold(_ id: String, until expiry: Instant, at now: Instant) async throws -> Bool

    /// Marks the `jti` of a token as ended, as ``spend(_:expiry:)`` does.
    /// ``AccountStore/account(id:unlessEnded:)`` then finds no account for it.
    /// - Returns: `false`, without an event, when the token has been ended before.
    func end(_ id: String, expiry: Instant, recording event: AuditEvent) async throws -> Bool

    /// Removes a mark, for a request that failed after it was made.
    /// Nothing happens when there is no mark.
    func restore(_ id: String) async throws

    /// Removes at most `limit` marks that expired before `instant`.
    /// - Returns: how many were removed.
    func sweep(before instant: Instant, limit: Int) async throws -> Int
}
