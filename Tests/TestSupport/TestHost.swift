public import AuthCore
internal import Synchronization

/// The web as a hash-login test needs it: URLs that serve what the test has put there.
public final class TestHost: HashFetcher {
    private let pages = Mutex<[String: [UInt8]]>([:])

    public init() {}

    public func serve(_ text: String, at url: String) {
        pages.withLock { $0[url] = Array(text.utf8) }
    }

    public func remove(_ url: String) {
        pages.withLock { $0[url] = nil }
    }

    public func url(parsing text: String) -> HashURL? {
        text.hasPrefix("https://") && !text.contains("@") ? HashURL(text: text) : nil
    }

    public func fetch(_ url: HashURL, timeout: Duration) async throws -> [UInt8] {
        guard let page = pages.withLock({ $0[url.text] }) else {
            throw HashFetchFailure(cause: "nothing is there")
        }
        return page
    }
}

/// Waiting that takes no time: the clock is moved to the instant waited for, and it is noted.
public final class TestStopwatch: Stopwatch {
    private let clock: TestClock
    private let state = Mutex((waits: [Instant](), isLate: false))

    public init(clock: TestClock) {
        self.clock = clock
    }

    /// The instants that were waited for.
    public var waits: [Instant] { state.withLock { $0.waits } }

    /// From now on nothing is done by its deadline.
    public func makeLate() { state.withLock { $0.isLate = true } }

    public func wait(until instant: Instant) async throws {
        state.withLock { $0.waits.append(instant) }
        let lapse = instant.since(clock.now)
        if lapse > .zero { clock.advance(by: lapse) }
    }

    public func run<T: Sendable>(
        until deadline: Instant, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T? {
        state.withLock { $0.isLate } ? nil : try await work()
    }
}
