internal import Synchronization

/// A condition that becomes true once and stays true. Every thread may read and set it.
public final class AtomicFlag: Sendable {
    private let state = Atomic(false)

    public init() {}

    public var isSet: Bool { state.load(ordering: .acquiring) }

    public func set() { state.store(true, ordering: .releasing) }
}
