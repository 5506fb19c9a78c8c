internal import Networking

/// The time between two accounts that one client makes without a user, on all servers that share a
/// database together.
///
/// Each server also counts for itself (``RateLimiter``), which costs nothing. The database is asked
/// last, after the proof of work, so that attempts without a proof cause no further writes.
struct CreationInterval: Sendable {
    private let ledger: any ChallengeLedger
    /// `nil` if there is no limit.
    private let interval: Duration?

    init(_ limiter: RateLimiter, ledger: any ChallengeLedger) {
        self.ledger = ledger
        interval = limiter.interval(of: .creation)
    }

    /// Begins the interval of a client.
    /// - Throws: ``RateLimited`` when one has begun and not ended, or an error of the store.
    func begin(for caller: Caller) async throws {
        guard let interval else { return }
        let isFirst = try await ledger.hold(
            Self.mark(of: caller), until: caller.now.advanced(by: interval), at: caller.now)
        guard isFirst else {
            throw RateLimited(retryAfter: .seconds(max(1, interval.components.seconds)))
        }
    }

    /// Ends the interval, because nothing was created.
    func cancel(for caller: Caller) async {
        guard interval != nil else { return }
        // The client gets the original error. The interval ends by itself.
        try? await ledger.restore(Self.mark(of: caller))
    }

    /// No challenge and no token has a space in its id.
    private static func mark(of caller: Caller) -> String { "creation \(caller.address.client)" }
}

extension UseCases {
    /// Runs `body`, which creates an account, within an interval of its own.
    func within<T>(
        _ interval: CreationInterval, of caller: Caller,
        _ body: () async throws(Failure) -> T
    ) async throws(Failure) -> T {
        try await attempt(await interval.begin(for: caller))
        do {
            return try await body()
        } catch {
            await interval.cancel(for: caller)
            throw error
        }
    }
}
