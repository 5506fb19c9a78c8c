import AuthCore
import Scheduling
import Testing

@testable import postern

@Suite struct PoolWorkersTests {
    @Test func workRunsInItsPlace() async throws {
        let workers = PoolWorkers(
            pool: WorkerPool(name: "t", lanes: 1, depth: 0), retryAfter: .seconds(3))
        #expect(try await workers.withPlace { try await $0.run { 42 } } == 42)
    }

    @Test func aFullPoolIsARefusalThatSaysWhenToComeBack() async throws {
        let workers = PoolWorkers(
            pool: WorkerPool(name: "t", lanes: 1, depth: 0), retryAfter: .seconds(3))
        try await workers.withPlace { _ -> Void in
            await #expect(throws: Refusal.busy(retryAfter: .seconds(3))) {
                _ = try await workers.withPlace { try await $0.run { 1 } }
            }
        }
    }
}
