internal import Synchronization

/// Collects entries from several threads, in the order of their arrival.
public final class Record<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])

    public init() {}

    public var entries: [Entry] { state.withLock { $0 } }

    public func add(_ entry: Entry) {
        state.withLock { $0.append(entry) }
    }
}
