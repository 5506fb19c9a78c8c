public import Networking

/// Fetches password hashes from the URLs that users registered.
public protocol HashFetcher: Sendable {
    /// Parses a URL once, for both fetching and storing it.
    /// - Returns: `nil` for a text that is not a URL or whose form already rules it out: scheme,
    ///   port, user info, a numeric host that is not in canonical form.
    func source(_ text: String) -> (any HashSource)?

    /// - Throws: ``CommonError/busy(retryAfter:)`` while no login's fetch for this client would be
    ///   accepted, whatever its URL.
    func checkQueue(for client: IPAddress) throws(CommonError)
}

/// The purpose of a fetch. Fetches for logins never wait for fetches for registrations, because
/// anybody can cause the latter, from a host that answers slowly.
public enum HashFetchPurpose: Sendable {
    case registration, login
}

/// A URL that may be fetched.
public protocol HashSource: Sendable {
    var url: HashURL { get }

    /// The body that the URL serves now, a few KiB at most.
    /// - Parameters:
    ///   - client: who asked for it.
    ///   - deadline: for everything, from the name look-up to the last byte.
    /// - Throws: ``HashFetchFailure``, whose cause the implementation has logged, or
    ///   ``CommonError/busy(retryAfter:)`` when too many fetches are waiting and nothing was begun.
    func fetch(
        for purpose: HashFetchPurpose, by client: IPAddress,
        before deadline: ContinuousClock.Instant
    ) async throws -> [UInt8]
}

/// The hash could not be fetched. Clients get one error whatever the cause.
public struct HashFetchFailure: Error, Sendable {
    public let cause: String

    public init(cause: String) {
        self.cause = cause
    }
}

/// Waiting on the monotonic clock. A protocol, so that tests do not wait.
public protocol Stopwatch: Sendable {
    /// Returns at `deadline`, at once when it is past. Blocks no thread.
    /// - Throws: `CancellationError` when the caller is cancelled first.
    func wait(until deadline: ContinuousClock.Instant) async throws

    /// The result of `work`, or `nil` at `deadline` when there is none yet. `work` is cancelled
    /// then, and its result is dropped.
    func run<T: Sendable>(
        until deadline: ContinuousClock.Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T?
}
