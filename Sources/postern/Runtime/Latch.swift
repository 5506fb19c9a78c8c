internal import Synchronization

/// A condition that comes about once and stays, readable from every thread.
final class Latch: Sendable {
    private let state = Atomic(false)

    var isClosed: Bool { state.load(ordering: .acquiring) }

    func close() { state.store(true, ordering: .releasing) }
}
