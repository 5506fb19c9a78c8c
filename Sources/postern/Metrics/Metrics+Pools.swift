internal import AuthAPI
internal import Scheduling

extension Metrics {
    typealias NamedPool = (name: String, statistics: WorkerPool.Statistics)

    /// The present state of the pools, and the number of rejected jobs.
    nonisolated func addPools(_ pools: @escaping @Sendable () -> [NamedPool]) {
        add { text in
            let pools = pools()
            let gauges: [(name: String, help: String, value: (WorkerPool.Statistics) -> Int)] = [
                ("lanes", "Jobs that can run at once.", \.lanes),
                ("running", "Jobs that run; those computed together are one.", \.running),
                ("waiting", "Jobs that wait for a lane.", \.waiting),
                ("places", "Places for jobs that run or wait.", \.capacity),
                ("places_taken", "Places that are taken.", \.reserved),
            ]
            for (name, help, value) in gauges {
                text.begin("postern_pool_\(name)", .gauge, help)
                for pool in pools { text.sample([("pool", pool.name)], value(pool.statistics)) }
            }
            text.begin(
                "postern_pool_rejected_total", .counter,
                "Callers that found no place, for all clients or for their own.")
            for pool in pools { text.sample([("pool", pool.name)], pool.statistics.rejected) }
            text.begin(
                "postern_pool_wait_seconds", .histogram, "How long jobs had waited for a lane.")
            for pool in pools { text.sample([("pool", pool.name)], pool.statistics.waits) }
        }
    }
}
