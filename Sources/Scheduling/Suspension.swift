internal import Synchronization

/// Where one task waits until it is resumed.
///
/// A continuation (Swift 6.3) resumes its task on the global executor, which then gives it to the
/// executor of its actor. For an actor on an ``EventLoop`` these are two switches of threads; from
/// here it is one job of the loop.
///
/// One task at a time waits. Each ``wait()`` needs one ``resume()``, before it or during it.
public actor Suspension {
    private nonisolated let job = HeldJob()

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        job.asUnownedSerialExecutor()
    }

    public init() {}

    /// Returns once it is resumed.
    public func wait() {
        // If the body needed nothing of the actor, the compiler (Swift 6.3) would leave out the
        // change to its executor. An empty function is not enough in an optimized build.
        job.takeLock()
    }

    /// Call on a queue, and not in a task, whose place the resumed one would take for a moment.
    public nonisolated func resume() { job.run() }
}

/// An executor that keeps its job until it is told to run it.
private final class HeldJob: SerialExecutor {
    private enum State {
        case empty, runsNext
        case held(UnownedJob)
    }

    private let state = Mutex(State.empty)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = state.withLock { state in
            guard case .runsNext = state else {
                state = .held(job)
                return true
            }
            state = .empty
            return false
        }
        if !isHeld { run(job) }
    }

    func run() {
        let job: UnownedJob? = state.withLock { state in
            guard case .held(let job) = state else {
                state = .runsNext
                return nil
            }
            state = .empty
            return job
        }
        if let job { run(job) }
    }

    private func run(_ job: UnownedJob) {
        job.runSynchronously(on: asUnownedSerialExecutor())
    }

    func takeLock() { state.withLock { _ in } }

    func checkIsolated() {}
}
