internal import Synchronization

/// Counts the callers between ``enter()`` and ``leave()``: the most at once, and those that left.
public final class Tally: Sendable {
    private let state = Mutex((inside: 0, most: 0, finished: 0))

    public init() {}

    public var most: Int { state.withLock { $0.most } }
    public var finished: Int { state.withLock { $0.finished } }

    public func enter() {
        state.withLock {
            $0.inside += 1
            $0.most = max($0.most, $0.inside)
        }
    }

    public func leave() {
        state.withLock {
            $0.inside -= 1
            $0.finished += 1
        }
    }
}
