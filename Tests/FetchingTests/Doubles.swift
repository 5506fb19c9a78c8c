import Synchronization

/// Closed until it is opened; whoever waits does so without a thread.
final class Latch: Sendable {
    private let state = Mutex((isOpen: false, waiting: [CheckedContinuation<Void, Never>]()))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

/// Returns once the condition holds; the suite's time limit ends a wait in vain.
func eventually(_ condition: () -> Bool) async {
    while !condition() { await Task.yield() }
}

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
