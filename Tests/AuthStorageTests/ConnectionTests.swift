import AuthCore
import TestPrimitives
import Testing

@testable import AuthStorage

@Suite struct ConnectionTests {
    @Test func beyondItsDepthAConnectionTurnsCallersAway() async throws {
        let database = try SQLiteConnection(path: ":memory:", busyTimeout: .zero)
        let connection = Connection(database, label: "test", depth: 2)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await connection.use { _ in gate.hold() } }
            await gate.await()
            group.addImmediateTask { try await connection.use { _ in } }
            #expect(connection.callers == 2)
            for _ in 0..<3 {
                await #expect(throws: StoreBusy.self) { try await connection.use { _ in } }
            }
            gate.release()
            try await group.waitForAll()
        }
        #expect(try await connection.use { _ in true })
        #expect(connection.callers == 0)
    }
}
