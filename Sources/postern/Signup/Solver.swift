internal import AuthCore
internal import Scheduling
internal import Synchronization

/// The work that one challenge asks for.
struct Assignment: Equatable, Sendable {
    /// What is worked on at all; at 2^24 tries a laptop is busy for days.
    static let difficulties = 0...24

    /// The challenge's `jti`.
    let id: String
    /// Leading zero bits.
    let difficulty: Int
    let puzzle: Puzzle

    /// Tries that one success takes on average.
    var expectedTries: Double { Double(1 << difficulty) }
}

struct Solution: Equatable, Sendable {
    let nonce: Nonce
    let digest: [UInt8]
}

/// Looks for a solution on several cores, and says how many nonces have been tried.
///
/// Promises: lane `i` of `n` tries nonces i, i + n, i + 2n, …; all stop within one try of the first
/// success, of ``stop()``, or of the caller's cancellation.
final class Solver: Sendable {
    let assignment: Assignment
    let threads: Int
    private let pool: WorkerPool
    private let triesSoFar = Atomic(0)
    private let isStopped = Latch()

    init(_ assignment: Assignment, threads: Int) {
        self.assignment = assignment
        self.threads = threads
        pool = WorkerPool(name: "solver", lanes: threads, depth: 0)
    }

    var tries: Int { triesSoFar.load(ordering: .relaxed) }

    func stop() { isStopped.close() }

    /// - Returns: `nil` when it was stopped before anything was found.
    func solve() async throws -> Solution? {
        try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Solution?.self) { group in
                for lane in 0..<threads {
                    group.addTask { try await self.pool.run { try self.search(from: lane) } }
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
        while !isStopped.isClosed {
            let nonce = Nonce(number)
            let digest = try assignment.puzzle.digest(challenge: assignment.id, nonce: nonce)
            triesSoFar.add(1, ordering: .relaxed)
            if leadingZeroBits(digest) >= assignment.difficulty {
                stop()
                return Solution(nonce: nonce, digest: digest)
            }
            number += Int64(threads)
        }
        return nil
    }
}
