internal import AuthCore
internal import Scheduling
internal import Synchronization

/// How often each statement of a store ran, and how long that took in all. All connections of the
/// store count in it.
final class StatementTimes: Sendable {
    /// Those of one statement. A connection keeps it beside its prepared statement.
    final class Entry: Sendable {
        fileprivate let count = Counter()
        fileprivate let nanoseconds = Counter()

        func record(_ nanoseconds: Int) {
            count.add()
            self.nanoseconds.add(nanoseconds)
        }
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameter name: ``Query/name``, so that there are as many entries as queries.
    func entry(of name: String) -> Entry {
        entries.withLock { entries in
            if let entry = entries[name] { return entry }
            let entry = Entry()
            entries[name] = entry
            return entry
        }
    }

    /// Those that have run, by name.
    var all: [StoreStatistics.Statement] {
        entries.withLock { $0 }.sorted { $0.key < $1.key }.map { name, entry in
            .init(name: name, count: entry.count.value, nanoseconds: entry.nanoseconds.value)
        }
    }
}
