internal import AuthCore
internal import Scheduling
internal import Synchronization

/// The times of a store's statements. Statements that are sent together each count the time of all.
final class RoundTrips: Sendable {
    let statements = StatementTimes()
    private let durations = Mutex(Histogram.durations)

    var all: Histogram { durations.withLock { $0 } }

    func record(_ sent: [PostgresStatement], nanoseconds: Int) {
        durations.withLock { $0.record(nanoseconds) }
        for statement in sent { statements.entry(of: statement.query.name).record(nanoseconds) }
    }
}
