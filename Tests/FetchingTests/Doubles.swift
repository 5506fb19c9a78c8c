import Synchronization

/// How many are inside, and how many were at most.
final class Tally: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func enter() {
        state.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
        }
    }

    func leave() {
        state.withLock { $0.now -= 1 }
    }
}

/// What was done, in order.
final class Record<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])

    var entries: [Entry] { state.withLock { $0 } }

    func add(_ entry: Entry) {
        state.withLock { $0.append(entry) }
    }
}
