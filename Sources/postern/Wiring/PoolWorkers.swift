internal import AuthCore
internal import Scheduling

/// A worker pool as AuthCore sees one: a full one is a refusal that the caller can mend by waiting.
struct PoolWorkers: Workers {
    let pool: WorkerPool
    /// When a place is likely to be free again.
    let retryAfter: Duration

    func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T {
        do {
            return try await pool.withPlace { try await body(Place(place: $0)) }
        } catch is WorkerPool.Full {
            throw Refusal.busy(retryAfter: retryAfter)
        }
    }

    private struct Place: WorkPlace {
        let place: WorkerPool.Place

        func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
            try await place.run(work)
        }
    }
}
