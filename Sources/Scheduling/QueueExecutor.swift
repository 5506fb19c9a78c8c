internal import Dispatch

/// A serial queue on which actors can be confined, and which can be a lane of a ``WorkerPool``.
public protocol SerialLane: SerialExecutor {
    /// Runs `work` on the queue after what is on it, and returns at once.
    func perform(_ work: @escaping @Sendable () -> Void)

    /// Whether the caller runs on it.
    var isCurrent: Bool { get }
}

/// Runs an actor's jobs on one serial Dispatch queue, so that a block on that queue
/// (``perform(_:)``) is already inside the actor.
///
/// Guarantees: jobs run one at a time, in the order they were enqueued. `checkIsolated` makes
/// `assumeIsolated` trap when it is called from anywhere else.
public final class QueueExecutor: SerialLane {
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

    public func perform(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    public var isCurrent: Bool {
        DispatchQueue.getSpecific(key: QueueExecutor.owner) == ObjectIdentifier(self)
    }

    /// Lets `Task.immediate` begin in a block on the queue without enqueuing another one.
    public func isIsolatingCurrentContext() -> Bool? { isCurrent }

    public func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
