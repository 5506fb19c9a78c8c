/// Waiting, which only the program can really do.
public protocol Stopwatch: Sendable {
    /// Returns at `instant`, at once when it is past. Holds no thread.
    /// - Throws: `CancellationError` when the caller is cancelled first.
    func wait(until instant: Instant) async throws

    /// What `work` gives, or `nil` at `deadline` if it has not given anything by then. It is
    /// cancelled then and not waited for: what it may still come to is dropped.
    func run<T: Sendable>(
        until deadline: Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T?
}
