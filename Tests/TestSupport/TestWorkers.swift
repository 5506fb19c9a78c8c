public import AuthCore
internal import Cryptography
internal import Synchronization

/// A pool without threads: work runs where it was asked for.
public struct InlineWorkers: Workers {
    private let before: @Sendable () throws -> Void

    /// - Parameter before: runs before each job; when it throws, the job cannot be done.
    public init(before: @escaping @Sendable () throws -> Void = {}) {
        self.before = before
    }

    public func withPlace<T: Sendable>(
        _ body: @Sendable (any WorkPlace) async throws -> T
    ) async throws -> T {
        try await body(Place(before: before))
    }

    private struct Place: WorkPlace {
        let before: @Sendable () throws -> Void

        func run<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
            try before()
            return try work()
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

extension InlineWorkers {
    /// A pool on a machine that has no memory left: work begins and cannot be done.
    public static let broken = InlineWorkers {
        throw CryptographyError.libraryFailure(operation: "Argon2", code: 22)
    }
}
