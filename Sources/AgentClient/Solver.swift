public import AuthCore
public import Cryptography
internal import Scheduling
internal import Synchronization

/// The work that one challenge asks for.
public struct Assignment: Equatable, Sendable {
    /// The difficulties that a client works on. 2^24 tries take a laptop days.
    static let difficulties = 0...24

    /// The challenge's `jti`.
    let id: String
    /// Leading zero bits.
    let difficulty: Int
    let puzzle: Puzzle

    /// The mean number of tries for one success.
    var expectedTries: Double { Double(1 << difficulty) }
}

public struct Solution: Equatable, Sendable {
    public let nonce: Nonce
    public let digest: [UInt8]
}

/// Searches for a solution on several threads, and counts the nonces that have been tried.
///
/// Thread `i` of `n` tries the nonces i, i + n, i + 2n, …, several of them in one pass. All threads
/// stop within one pass after the first success, after ``stop()``, and after the caller was
/// cancelled.
public final class Solver: Sendable {
    let assignment: Assignment
    let threads: Int
    /// The nonces of one pass.
    let passTries: Int
    private let kernel: Scrypt.Kernel
    private let pool: WorkerPool
    private let triesSoFar = Atomic(0)
    private let isStopped = AtomicFlag()

    public init(_ assignment: Assignment, threads: Int, kernel: Scrypt.Kernel = .best) {
        self.assignment = assignment
        self.threads = threads
        self.kernel = kernel
        // A pass with more nonces takes longer. When one nonce fits, the work for the others of the
        // pass is wasted.
        passTries = max(1, min(kernel.lanes, Int(assignment.expectedTries) / threads))
        pool = WorkerPool(name: "solver", lanes: threads, depth: 0)
    }

    var tries: Int { triesSoFar.load(ordering: .relaxed) }

    func stop() { isStopped.set() }

    /// - Returns: `nil` when it was stopped before a solution was found.
    func solve() async throws -> Solution? {
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Solution?.self) { group in
                for lane in 0..<threads {
                    group.addTask {
                        try await self.pool.run(for: nil) { try self.search(from: lane) }
                    }
                }
                var found: Solution?
                for try await solution in group where found == nil { found = solution }
                return found
            }
        } onCancel: {
            stop()
        }
    }

    private func search(from first: Int) throws -> Solution? {
        var number = Int64(first)
        while !isStopped.isSet {
            let attempts = (0..<passTries).map { _ in
                defer { number += Int64(threads) }
                return Puzzle.Attempt(
                    assignment.puzzle, challenge: assignment.id, nonce: Nonce(number))
            }
            let digests = Puzzle.digests(of: attempts, kernel: kernel)
            triesSoFar.add(attempts.count, ordering: .relaxed)
            for (attempt, result) in zip(attempts, digests) {
                let digest = try result.get()
                if leadingZeroBits(digest) >= assignment.difficulty {
                    stop()
                    return Solution(nonce: attempt.nonce, digest: digest)
                }
            }
        }
        return nil
    }
}
