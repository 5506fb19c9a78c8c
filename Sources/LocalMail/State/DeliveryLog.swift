internal import Synchronization

/// What was delivered or captured, oldest first, and those who wait for more.
final class DeliveryLog: Sendable {
    private struct State {
        var entries: [DeliveredMessage] = []
        var lastNumber = 0
        var lastWatcher = 0
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    private let state = Mutex(State())

    func messages(after number: Int) -> [DeliveredMessage] {
        state.withLock { state in
            Array(state.entries[state.entries.partitionIndex { $0.number > number }...])
        }
    }

    func append(
        _ content: MailContent, from mailFrom: String, results: [DeliveryResult],
        at now: MailInstant
    ) {
        let watchers = state.withLock { state in
            state.lastNumber += 1
            state.entries.append(
                DeliveredMessage(
                    number: state.lastNumber, mailFrom: mailFrom, results: results, arrivedAt: now,
                    content: content))
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield() }
    }

    func removeAll() {
        // Freed without the lock.
        _ = state.withLock { state in
            defer { state.entries = [] }
            return state.entries
        }
    }

    /// A signal after each arrival. One that nobody took yet stands for all later ones.
    func arrivals() -> AsyncStream<Void> {
        let (stream, signal) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.lastWatcher += 1
            state.watchers[state.lastWatcher] = signal
            return state.lastWatcher
        }
        signal.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.watchers.removeValue(forKey: id) }
        }
        return stream
    }

    /// How many streams of ``arrivals()`` there are.
    var watcherCount: Int { state.withLock { $0.watchers.count } }
}
