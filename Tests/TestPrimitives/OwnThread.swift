internal import Dispatch

/// Runs blocking work on a queue of its own, because Swift tasks share few threads.
public func onOwnThread<T: Sendable>(
    _ work: @escaping @Sendable () throws -> T
) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "own").async { continuation.resume(with: Result { try work() }) }
    }
}
