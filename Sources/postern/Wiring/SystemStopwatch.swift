internal import AuthCore

/// Waiting by the machine's clock, without a thread.
struct SystemStopwatch: Stopwatch {
    func wait(until instant: Instant) async throws {
        let rest = instant.since(SystemClock.now())
        if rest > .zero { try await Task.sleep(for: rest) }
    }
}
