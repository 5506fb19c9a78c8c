internal import Dispatch

/// Runs an actor's jobs on one serial Dispatch queue, so that a block on that queue
/// (``perform(_:)``) is already inside the actor.
///
/// Guarantees: jobs run one at a time, in the order they were enqueued. `checkIsolated` makes
/// `assumeIsolated` trap when it is called from anywhere else.
public final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    private static let owner = DispatchSpecificKey<ObjectIdentifier>()

    /// - Parameter label: shown by debuggers and `perf`; name the owner.
    public init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: QueueExecutor.owner, value: ObjectIdentifier(self))
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    /// Runs `work` on the queue after what is on it, and returns at once.
    public func perform(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    /// Lets `Task.immediate` begin in a block on the queue without enqueuing another one.
    public func isIsolatingCurrentContext() -> Bool? {
        DispatchQueue.getSpecific(key: QueueExecutor.owner) == ObjectIdentifier(self)
    }

    public func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
