internal import Scheduling

/// Where the tests of the real program run: one after the other on a queue of their own, because
/// they block on sockets and processes and must not hold a thread that other tests need.
@globalActor
actor Outside {
    static let shared = Outside()

    private let executor = QueueExecutor(label: "outside")

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }
}
