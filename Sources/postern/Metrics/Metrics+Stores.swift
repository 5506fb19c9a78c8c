internal import AuthAPI
internal import AuthCore
internal import Synchronization

/// The last state that the database has reported.
final class StoreHealth: Sendable {
    private let reachability = Atomic(true)
    private let fullness = Atomic(false)
    private let failure = Atomic(false)

    var isReachable: Bool { reachability.load(ordering: .relaxed) }
    var isDiskFull: Bool { fullness.load(ordering: .relaxed) }
    var isDiskFailing: Bool { failure.load(ordering: .relaxed) }

    func note(isReachable: Bool) { reachability.store(isReachable, ordering: .relaxed) }

    func note(isDiskFull: Bool) { fullness.store(isDiskFull, ordering: .relaxed) }

    func note(isDiskFailing: Bool) { failure.store(isDiskFailing, ordering: .relaxed) }
}

extension Metrics {
    nonisolated func add(_ health: StoreHealth) {
        add { text in
            text.gauge(
                "postern_store_reachable",
                "Whether the database's server could be reached: 1 or 0.",
                health.isReachable ? 1 : 0)
            text.gauge(
                "postern_store_disk_full", "Whether the database's disk is full: 1 or 0.",
                health.isDiskFull ? 1 : 0)
            text.gauge(
                "postern_store_disk_failing",
                "Whether the database's disk has failed the last write: 1 or 0.",
                health.isDiskFailing ? 1 : 0)
        }
    }

    /// The work that the database has done for this process.
    nonisolated func add(_ stores: Stores) {
        add { text in
            let statistics = stores.statistics()
            text.begin(
                "postern_store_statement_seconds", .summary,
                "How often statements ran, and how long.")
            for statement in statistics.statements {
                text.sample(
                    [("statement", statement.name)], nanoseconds: statement.nanoseconds,
                    count: statement.count)
            }
            text.begin(
                "postern_store_transaction_seconds", .histogram,
                "How long commits on SQLite and round trips to PostgreSQL took.")
            text.sample([], statistics.transactions)
            text.begin(
                "postern_store_batch_size", .histogram,
                "How many writes or look-ups were done together.")
            for batches in statistics.batches {
                text.sample([("batch", batches.name)], batches.sizes)
            }
            text.begin(
                "postern_store_batch_waiting", .gauge,
                "Writes or look-ups that wait to be done together.")
            for batches in statistics.batches {
                text.sample([("batch", batches.name)], batches.waiting)
            }
            if let connections = statistics.connections {
                text.gauge(
                    "postern_store_connections_open", "Connections to the database's server.",
                    connections.open)
            }
        }
    }
}
