/// Which challenges have been spent. What is spent stays spent across restarts and across servers
/// that share a database.
public protocol ChallengeLedger: Sendable {
    /// Marks `id` as spent. Of any number of concurrent calls with one `id`, on any number of
    /// servers, exactly one gives `true`; that `true` is durable before it is given.
    /// - Parameter expiry: when the challenge's own lifetime ends; from then on the mark may go,
    ///   because the token itself no longer verifies.
    func spend(_ id: String, expiry: Instant) async throws -> Bool

    /// Takes a mark back, for a caller whose request could not be served after all (the store
    /// became busy between the spend and what it paid for). Nothing happens when there is none.
    func restore(_ id: String) async throws

    /// Removes at most `limit` marks whose expiry lies before `instant`.
    /// - Returns: how many went.
    func sweep(before instant: Instant, limit: Int) async throws -> Int
}
