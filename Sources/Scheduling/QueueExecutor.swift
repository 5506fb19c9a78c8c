public import Dispatch

/// Runs an actor's jobs on one serial Dispatch queue, so that a Dispatch source's handler on that
/// queue is already inside the actor.
///
/// Guarantees: jobs run one at a time, in the order they were enqueued. `checkIsolated` makes
/// `assumeIsolated` trap when it is called from anywhere else.
public final class QueueExecutor: SerialExecutor {
    /// The queue itself, for Dispatch sources that fire inside the actor.
    public let queue: DispatchQueue

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

    /// Lets `Task.immediate` begin inside a source's handler without a hop through the queue.
    public func isIsolatingCurrentContext() -> Bool? {
        DispatchQueue.getSpecific(key: QueueExecutor.owner) == ObjectIdentifier(self)
    }

    public func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
