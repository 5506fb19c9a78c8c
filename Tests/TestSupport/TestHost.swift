public import AuthCore
internal import Synchronization

/// The web as a hash-login test needs it: URLs that serve what the test has put there.
public final class TestHost: HashFetcher {
    public enum Room: Sendable {
        case plenty
        /// None, and whoever asks is told.
        case none
        /// It is gone between asking for it and fetching.
        case goneMeanwhile
    }

    private struct State {
        var pages: [String: [UInt8]] = [:]
        var room = Room.plenty
        var timeouts: [Duration] = []
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

    public func leave(_ room: Room) {
        state.withLock { $0.room = room }
    }

    /// Fetches so far.
    public var asked: Int { timeouts.count }

    /// What each of them was given.
    public var timeouts: [Duration] { state.withLock { $0.timeouts } }

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

    public func url(parsing text: String) -> HashURL? {
        text.hasPrefix("https://") && !text.contains("@") ? HashURL(text: text) : nil
    }

    public func demandRoom() throws(Refusal) {
        guard state.withLock({ $0.room != .none }) else {
            throw .busy(retryAfter: .seconds(2))
        }
    }

    public func fetch(_ url: HashURL, timeout: Duration) async throws -> [UInt8] {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                state.timeouts.append(timeout)
                guard state.holds > 0 else { return false }
                state.holds -= 1
                state.held.append(continuation)
                return true
            }
            if isHeld { arrival.yield() } else { continuation.resume() }
        }
        let (page, room) = state.withLock { ($0.pages[url.text], $0.room) }
        guard room == .plenty else { throw Refusal.busy(retryAfter: .seconds(2)) }
        guard let page else { throw HashFetchFailure(cause: "nothing is there") }
        return page
    }
}

/// Waiting that takes no time: the clock is moved to the instant waited for, and it is noted.
public final class TestStopwatch: Stopwatch {
    private let clock: TestClock
    private let state = Mutex((waits: [Instant](), isLate: false, isLeft: false))
    private let onWait = Mutex<(@Sendable () async -> Void)?>(nil)

    public init(clock: TestClock) {
        self.clock = clock
    }

    /// The instants that were waited for.
    public var waits: [Instant] { state.withLock { $0.waits } }

    /// From now on nothing is done by its deadline.
    public func makeLate() { state.withLock { $0.isLate = true } }

    /// From now on whoever waits is cancelled, as a client that goes away has it.
    public func makeLeft() { state.withLock { $0.isLeft = true } }

    /// Runs `body` whenever somebody begins to wait.
    public func whenWaiting(_ body: @escaping @Sendable () async -> Void) {
        onWait.withLock { $0 = body }
    }

    public func wait(until instant: Instant) async throws {
        let isLeft = state.withLock { state in
            state.waits.append(instant)
            return state.isLeft
        }
        await onWait.withLock { $0 }?()
        if isLeft { throw CancellationError() }
        let lapse = instant.since(clock.now)
        if lapse > .zero { clock.advance(by: lapse) }
    }

    public func run<T: Sendable>(
        until deadline: Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        state.withLock { $0.isLate } ? nil : try await work()
    }
}
