internal import Synchronization

/// How many are inside, how many were at most, and how many have come out.
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
