import AuthCore
import Cryptography
import Testing

@testable import AgentClient

/// Work that takes microseconds a try.
func easy(difficulty: Int) throws -> Assignment {
    Assignment(
        id: "jti-abc", difficulty: difficulty,
        puzzle: .scrypt(
            parameters: try Scrypt.Parameters(n: 2, r: 1, p: 1, outputBytes: 64), salt: "00"))
}

@Suite struct SolverTests {
    @Test(arguments: [1, 2, 5]) func itsResultIsASolution(threads: Int) async throws {
        let assignment = try easy(difficulty: 6)
        let solver = Solver(assignment, threads: threads)
        let solution = try #require(try await solver.solve())
        let digest = try assignment.puzzle.digest(challenge: "jti-abc", nonce: solution.nonce)
        #expect(digest == solution.digest)
        #expect(leadingZeroBits(digest) >= 6)
        #expect(solver.tries > 0)
    }

    @Test(arguments: Scrypt.Implementation.allCases)
    func oneThreadFindsTheFirstNonceThatFits(implementation: Scrypt.Implementation) async throws {
        let assignment = try easy(difficulty: 5)
        let kernel = Scrypt.Kernel.choose(implementation).kernel
        let solver = Solver(assignment, threads: 1, kernel: kernel)
        #expect(solver.passTries == kernel.lanes)
        let found = try #require(try await solver.solve())
        let number = try #require(Int64(found.nonce.text))
        for earlier in 0..<number {
            let digest = try assignment.puzzle.digest(
                challenge: assignment.id, nonce: Nonce(earlier))
            #expect(leadingZeroBits(digest) < 5)
        }
        // Whole passes are counted.
        #expect(solver.tries == (Int(number) / solver.passTries + 1) * solver.passTries)
    }

    @Test func aPassHasNoMoreTriesThanAreExpected() throws {
        let kernel = Scrypt.Kernel.best
        for (difficulty, threads, tries) in [(0, 1, 1), (1, 1, 2), (1, 2, 1), (2, 2, 2), (3, 8, 1)]
        {
            let solver = Solver(
                try easy(difficulty: difficulty), threads: threads, kernel: kernel)
            #expect(solver.passTries == min(tries, kernel.lanes))
        }
    }

    @Test func aStoppedSolverHasNoResult() async throws {
        let solver = Solver(try easy(difficulty: 24), threads: 2)
        solver.stop()
        #expect(try await solver.solve() == nil)
    }

    @Test func cancellingItsCallerStopsIt() async throws {
        let solver = Solver(try easy(difficulty: 24), threads: 2)
        let task = Task { try await solver.solve() }
        task.cancel()
        // It throws when it is cancelled before a lane has begun, and has no result afterwards.
        let found = try? await task.value
        #expect(found == nil || found == .some(nil))
    }

    @Test func theDisplayStopsTheSolverAtTheLimit() async throws {
        let display = ProgressDisplay(isTerminal: false)
        let solver = Solver(try easy(difficulty: 24), threads: 1)
        #expect(try await display.solve(solver, within: .zero) == nil)
    }
}
