internal import Dispatch

/// Runs what blocks on a thread of its own, not on one of the few that tasks share.
public func onOwnThread<T: Sendable>(
    _ work: @escaping @Sendable () throws -> T
) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "own").async { continuation.resume(with: Result { try work() }) }
    }
}
