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
            let place = Place(place: try pool.reserve())
            defer { withExtendedLifetime(place) {} }
            return try await body(place)
        } catch is WorkerPool.Full {
            throw Refusal.busy(retryAfter: retryAfter)
        }
    }

    private final class Place: WorkPlace {
        let place: WorkerPool.Place

        init(place: consuming WorkerPool.Place) {
            self.place = place
        }

        func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
            try await place.run(work)
        }
    }
}
