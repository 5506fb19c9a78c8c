internal import CSocket
internal import Glibc
internal import Scheduling
internal import Synchronization

/// Runs the jobs of a loop on a serial queue, and lets the loop wait for events on that queue: a
/// job that is enqueued meanwhile ends the wait.
///
/// The loop's thread waits in epoll itself, so an event costs one switch of threads. With a
/// Dispatch source it would cost two, and further calls to watch the source again.
final class LoopExecutor: SerialExecutor {
    let epoll: Int32
    /// An eventfd whose events end a wait.
    private let wake: Int32
    private let queue: QueueExecutor
    /// Jobs that have not begun.
    private let jobs = Atomic<Int>(0)
    private let isWaiting = Atomic<Bool>(false)

    init(label: String) throws {
        queue = QueueExecutor(label: label)
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        wake = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        // Every write is an event, so it need not be read.
        let events = EPOLLIN.rawValue | EPOLLET.rawValue
        guard epoll >= 0, wake >= 0, csocket_watch(epoll, EPOLL_CTL_ADD, wake, events) == 0 else {
            throw SocketError(call: "epoll", code: errno)
        }
    }

    deinit {
        for descriptor in [epoll, wake] where descriptor >= 0 { close(descriptor) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs `job` on the queue soon, after what is on it.
    func perform(_ job: @escaping @Sendable () -> Void) {
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

    /// Runs `turn` after the jobs that are on the queue now. It is not a job for ``hasJobs``.
    func enqueueTurn(_ turn: @escaping @Sendable () -> Void) { queue.perform(turn) }

    /// Whether jobs wait for the end of this turn.
    var hasJobs: Bool { jobs.load(ordering: .relaxed) > 0 }

    /// Waits until descriptors of ``epoll`` are ready or there are jobs. In a turn only.
    /// - Parameter milliseconds: waits no longer; negative for ever.
    /// - Returns: how many of the buffers' elements were written; negative on failure.
    func wait(
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

    func isIsolatingCurrentContext() -> Bool? { queue.isIsolatingCurrentContext() }

    func checkIsolated() { queue.checkIsolated() }
}
