internal import Synchronization

/// Token buckets by class and client network (contract section 2, "Rate limits").
public final class RateLimiter: Sendable {
    /// What is limited together.
    public enum Class: Hashable, CaseIterable, Sendable {
        /// Everything without a verified token, and verified free tokens: one bucket.
        case general
        /// Requests with a verified Pro token.
        case pro
        /// Free account creation and agent signup.
        case creation
        /// Pro account creation.
        case proCreation
    }

    /// Takes a place in `limit`'s bucket for `body`, and gives it back when `body` throws: what
    /// failed does not count.
    public func reserving<T>(
        _ limit: Class, for caller: Caller, _ body: () async throws -> T
    ) async throws -> T {
        try await body()
    }
}
