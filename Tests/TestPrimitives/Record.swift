internal import Synchronization

/// What was done, in order.
public final class Record<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])

    public init() {}

    public var entries: [Entry] { state.withLock { $0 } }

    public func add(_ entry: Entry) {
        state.withLock { $0.append(entry) }
    }
}
