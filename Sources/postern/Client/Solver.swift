internal import AuthCore
internal import Scheduling
internal import Synchronization

/// The work that one challenge asks for.
struct Assignment: Equatable, Sendable {
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

struct Solution: Equatable, Sendable {
    let nonce: Nonce
    let digest: [UInt8]
}

/// Searches a solution on several threads, and counts the nonces that have been tried.
///
/// Lane `i` of `n` tries the nonces i, i + n, i + 2n, … All lanes stop within one try after the
/// first success, after ``stop()``, and after the caller was cancelled.
final class Solver: Sendable {
    let assignment: Assignment
    let threads: Int
    private let pool: WorkerPool
    private let triesSoFar = Atomic(0)
    private let isStopped = AtomicFlag()

    init(_ assignment: Assignment, threads: Int) {
        self.assignment = assignment
        self.threads = threads
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
