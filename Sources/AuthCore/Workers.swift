/// Where slow work goes: a bounded pool of threads, never a socket's loop.
public protocol Workers: Sendable {
    /// Takes a place in the pool's queue before `body` begins, so that what runs through the
    /// place is never refused half-way.
    /// - Throws: ``Refusal/busy(retryAfter:)`` before `body` has begun, or what `body` throws.
    func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T
}

/// A place held in a pool.
public protocol WorkPlace: Sendable {
    func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T
}

extension Workers {
    func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withPlace { try await $0.run(work) }
    }
}
