internal import CSocket
internal import Glibc
internal import Synchronization

/// A serial queue that waits for events of descriptors itself, and runs the jobs of actors between
/// its turns: a job that is enqueued meanwhile ends the wait.
///
/// The loop's thread waits in epoll itself, so an event costs one switch of threads. With a
/// Dispatch source it would cost two, and further calls to watch the source again.
///
/// Use: ``run()`` once, and ``stop()`` at the end. Whatever is called in a turn must not block: it
/// delays every other descriptor and job of the loop.
public final class EventLoop: SerialLane {
    /// The kernel did not give what a loop needs.
    public struct Failure: Error, CustomStringConvertible {
        /// The errno.
        public let code: Int32

        public var description: String { "epoll failed: \(String(cString: strerror(code)))" }
    }

    /// For callers that watch descriptors by themselves, in turns of their own.
    public let epoll: Int32
    /// An eventfd whose events end a wait.
    private let wake: Int32
    private let queue: QueueExecutor
    /// Jobs that have not begun.
    private let jobs = Atomic<Int>(0)
    private let isWaiting = Atomic<Bool>(false)
    private let isStopped = AtomicFlag()
    private let turn = Mutex<Callback?>(nil)
    private let watchers = Mutex<[Int32: Callback]>([:])

    /// A function in a struct: Swift puts one in a generic type behind another one, at each change.
    private struct Callback {
        let call: @Sendable () -> Void
    }

    /// - Throws: ``Failure``.
    public init(label: String) throws {
        queue = QueueExecutor(label: label)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        // Every write is an event, so it need not be read.
        let events = EPOLLIN.rawValue | EPOLLET.rawValue
        guard epoll >= 0, wake >= 0, csocket_watch(epoll, EPOLL_CTL_ADD, wake, events) == 0 else {
            throw Failure(code: errno)
        }
    }

    deinit {
        for descriptor in [epoll, wake] where descriptor >= 0 { close(descriptor) }
    }

    /// One for callers that have none. It exists as long as the process.
    public static func shared() throws -> EventLoop { try common.get() }

    private static let common = Result {
        let loop = try EventLoop(label: "loop")
        loop.run()
        return loop
    }

    // MARK: Turns

    /// Begins to take turns. The loop exists until ``stop()``.
    public func run() {
        queue.perform {
            guard !self.isStopped.isSet else { return }
            if let turn = self.turn.withLock({ $0 }) { turn.call() } else { self.takeTurn() }
            self.run()
        }
    }

    /// Ends the turns. Jobs still run.
    public func stop() {
        isStopped.set()
        perform {}
    }

    /// Replaces the turns from the next one on.
    /// - Parameter turn: waits once or several times, serves what is ready, and returns when
    ///   ``hasJobs``; `nil` for turns that serve what ``watch(_:writes:_:)`` was given.
    public func takeTurns(_ turn: (@Sendable () -> Void)?) {
        self.turn.withLock { $0 = turn.map(Callback.init) }
    }

    private func takeTurn() {
        let capacity = 16
        withUnsafeTemporaryAllocation(of: Int32.self, capacity: capacity) { descriptors in
            withUnsafeTemporaryAllocation(of: UInt32.self, capacity: capacity) { events in
                repeat {
                    let count = wait(for: -1, descriptors, events)
                    for index in 0..<max(0, count) { serve(descriptors[index]) }
                } while !hasJobs
            }
        }
    }

    /// Waits until descriptors of ``epoll`` are ready or there are jobs. In a turn only.
    /// - Parameter milliseconds: waits no longer; negative for ever.
    /// - Returns: how many of the buffers' elements were written; negative on failure.
    public func wait(
        for milliseconds: Int32, _ descriptors: UnsafeMutableBufferPointer<Int32>,
        _ events: UnsafeMutableBufferPointer<UInt32>
    ) -> Int {
        // Before `jobs` is read: a job that is enqueued after that ends the wait.
        isWaiting.store(true, ordering: .sequentiallyConsistent)
        defer { isWaiting.store(false, ordering: .relaxed) }
        let mayWait = jobs.load(ordering: .sequentiallyConsistent) == 0
        return Int(
            csocket_ready(
                epoll, descriptors.baseAddress, events.baseAddress, Int32(descriptors.count),
                mayWait ? milliseconds : 0))
    }

    /// Whether jobs wait for the end of this turn.
    public var hasJobs: Bool { jobs.load(ordering: .relaxed) > 0 }

    // MARK: Descriptors

    /// Has `ready` called in a turn whenever the descriptor can be read or is closed by its peer,
    /// also when it was so before. Replaces what was given for it before.
    /// - Parameter writes: also when it can be written.
    public func watch(
        _ descriptor: Int32, writes: Bool = false, _ ready: @escaping @Sendable () -> Void
    ) {
        watchers.withLock { $0[descriptor] = Callback(call: ready) }
        let events = EPOLLIN.rawValue | (writes ? EPOLLOUT.rawValue : 0)
        if csocket_watch(epoll, EPOLL_CTL_MOD, descriptor, events) != 0 {
            _ = csocket_watch(epoll, EPOLL_CTL_ADD, descriptor, events)
        }
    }

    /// Call before the descriptor is closed.
    public func unwatch(_ descriptor: Int32) {
        _ = csocket_watch(epoll, EPOLL_CTL_DEL, descriptor, 0)
        watchers.withLock { $0[descriptor] = nil }
    }

    /// Calls what watches the descriptor, if anything does. One that was closed earlier in this
    /// turn may belong to another watcher by now, which then finds nothing to read.
    /// - Returns: whether anything does.
    @discardableResult
    public func serve(_ descriptor: Int32) -> Bool {
        guard let ready = watchers.withLock({ $0[descriptor] }) else { return false }
        ready.call()
        return true
    }

    // MARK: Jobs

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs `job` on the queue soon, after what is on it.
    public func perform(_ job: @escaping @Sendable () -> Void) {
        jobs.add(1, ordering: .sequentiallyConsistent)
        queue.perform {
            self.jobs.subtract(1, ordering: .relaxed)
            job()
        }
        if isWaiting.exchange(false, ordering: .sequentiallyConsistent) {
            var count: UInt64 = 1
            write(wake, &count, 8)
        }
    }

    public var isCurrent: Bool { queue.isCurrent }

    public func isIsolatingCurrentContext() -> Bool? { queue.isCurrent }

    public func checkIsolated() { queue.checkIsolated() }
}
