internal import Synchronization

/// A condition that becomes true once and stays true. Every thread may read and set it.
final class AtomicFlag: Sendable {
    private let state = Atomic(false)

    var isSet: Bool { state.load(ordering: .acquiring) }

    func set() { state.store(true, ordering: .releasing) }
}
