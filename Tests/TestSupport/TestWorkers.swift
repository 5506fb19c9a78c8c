public import AuthCore
internal import Cryptography
internal import Synchronization

/// A pool without threads: work runs where it was asked for.
public struct InlineWorkers: Workers {
    public init() {}

    public func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T {
        try await body(Place())
    }

    private struct Place: WorkPlace {
        func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
            try work()
        }
    }
}

/// A pool without room.
public struct FullWorkers: Workers {
    public init() {}

    public func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T {
        throw Refusal.busy(retryAfter: .seconds(1))
    }
}

/// A pool that fills up: so many places in all, and none is given back.
public final class DwindlingWorkers: Workers {
    private let places: Mutex<Int>

    public init(places: Int) {
        self.places = Mutex(places)
    }

    public func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T {
        let taken = places.withLock { places in
            places -= 1
            return places >= 0
        }
        guard taken else { throw Refusal.busy(retryAfter: .seconds(1)) }
        return try await InlineWorkers().withPlace(body)
    }
}

/// A pool on a machine that has no memory left: work begins and cannot be done.
public struct BrokenWorkers: Workers {
    public init() {}

    public func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T {
        try await body(Place())
    }

    private struct Place: WorkPlace {
        func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
            throw CryptographyError.libraryFailure(operation: "Argon2", code: 22)
        }
    }
}
