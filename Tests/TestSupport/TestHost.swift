public import AuthCore
public import Networking
internal import Synchronization

/// A web server for hash-login tests: URLs that serve what the test has put there.
public final class TestHost: HashFetcher {
    /// Whether the queue of fetches accepts one more.
    public enum Queue: Sendable {
        case free
        /// Full, which the check before a fetch reports.
        case full
        /// Free at the check and full at the fetch.
        case fullAfterCheck
    }

    private struct State {
        var pages: [String: [UInt8]] = [:]
        var queue = Queue.free
        var deadlines: [ContinuousClock.Instant] = []
        var purposes: [HashFetchPurpose] = []
        /// How many of the next fetches are held.
        var holds = 0
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    public init() {
        (arrivals, arrival) = AsyncStream.makeStream()
    }

    public func serve(_ text: String, at url: String) {
        state.withLock { $0.pages[url] = Array(text.utf8) }
    }

    public func remove(_ url: String) {
        state.withLock { $0.pages[url] = nil }
    }

    public func setQueue(_ queue: Queue) {
        state.withLock { $0.queue = queue }
    }

    /// The number of fetches so far.
    public var fetchCount: Int { deadlines.count }

    /// The deadline of each fetch.
    public var deadlines: [ContinuousClock.Instant] { state.withLock { $0.deadlines } }

    /// The purpose of each fetch.
    public var purposes: [HashFetchPurpose] { state.withLock { $0.purposes } }

    /// The next `count` fetches wait until ``release()``.
    public func hold(_ count: Int) {
        state.withLock { $0.holds = count }
    }

    public func release() {
        let held = state.withLock { state in
            state.holds = 0
            defer { state.held = [] }
            return state.held
        }
        for fetch in held { fetch.resume() }
    }

    /// Returns once `count` fetches are being held. For one caller, once.
    public func awaitHeld(_ count: Int) async {
        var missing = count
        for await _ in arrivals {
            missing -= 1
            if missing == 0 { return }
        }
    }

    public func source(_ text: String) -> (any HashSource)? {
        guard text.hasPrefix("https://"), !text.contains("@") else { return nil }
        return Source(host: self, url: HashURL(text: text))
    }

    public func checkQueue(for client: IPAddress) throws(CommonError) {
        guard state.withLock({ $0.queue != .full }) else {
            throw .busy(retryAfter: .seconds(2))
        }
    }

    private struct Source: HashSource {
        let host: TestHost
        let url: HashURL

        func fetch(
            for purpose: HashFetchPurpose, by client: IPAddress,
            before deadline: ContinuousClock.Instant
        ) async throws -> [UInt8] {
            try await host.fetch(url, for: purpose, before: deadline)
        }
    }

    private func fetch(
        _ url: HashURL, for purpose: HashFetchPurpose, before deadline: ContinuousClock.Instant
    ) async throws -> [UInt8] {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                state.deadlines.append(deadline)
                state.purposes.append(purpose)
                guard state.holds > 0 else { return false }
                state.holds -= 1
                state.held.append(continuation)
                return true
            }
            if isHeld { arrival.yield() } else { continuation.resume() }
        }
        let (page, queue) = state.withLock { ($0.pages[url.text], $0.queue) }
        guard queue == .free else { throw CommonError.busy(retryAfter: .seconds(2)) }
        guard let page else { throw HashFetchFailure(cause: "nothing is there") }
        return page
    }
}

/// Waiting that takes no time: the clock is moved to the deadline, and the deadline is recorded.
public final class TestStopwatch: Stopwatch {
    private let clock: TestClock
    private let state = Mutex(
        (waits: [ContinuousClock.Instant](), isLate: false, isCancelled: false))
    private let onWait = Mutex<(@Sendable () async -> Void)?>(nil)

    public init(clock: TestClock) {
        self.clock = clock
    }

    /// The instants that were waited for.
    public var waits: [ContinuousClock.Instant] { state.withLock { $0.waits } }

    /// From now on no work is done by its deadline.
    public func exceedDeadlines() { state.withLock { $0.isLate = true } }

    /// From now on every wait is cancelled, as when a client disconnects.
    public func cancelWaits() { state.withLock { $0.isCancelled = true } }

    /// Runs `body` at the beginning of every wait.
    public func whenWaiting(_ body: @escaping @Sendable () async -> Void) {
        onWait.withLock { $0 = body }
    }

    public func wait(until deadline: ContinuousClock.Instant) async throws {
        let isCancelled = state.withLock { state in
            state.waits.append(deadline)
            return state.isCancelled
        }
        await onWait.withLock { $0 }?()
        if isCancelled { throw CancellationError() }
        let lapse = clock.monotonic.duration(to: deadline)
        if lapse > .zero { clock.advance(by: lapse) }
    }

    public func run<T: Sendable>(
        until deadline: ContinuousClock.Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        state.withLock { $0.isLate } ? nil : try await work()
    }
}
