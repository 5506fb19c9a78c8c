import AuthCore
import Glibc
import TestPrimitives
import Testing

@testable import AuthStorage

@Suite struct ConnectionQueueTests {
    @Test func moreCallersThanItsDepthGetStoreBusy() async throws {
        let database = try SQLiteConnection(path: ":memory:", busyTimeout: .zero)
        let queue = ConnectionQueue(database, label: "test", depth: 2)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await queue.run { _ in gate.hold() } }
            await gate.await()
            group.addImmediateTask { try await queue.run { _ in } }
            #expect(queue.callers == 2)
            for _ in 0..<3 {
                await #expect(throws: StoreBusy.self) { try await queue.run { _ in } }
            }
            gate.release()
            try await group.waitForAll()
        }
        #expect(try await queue.run { _ in true })
        #expect(queue.callers == 0)
    }

    @Test func aJobRunsOnTheCallersThreadOnlyWhileTheConnectionIsIdle() async throws {
        let database = try SQLiteConnection(path: ":memory:", busyTimeout: .zero)
        let queue = ConnectionQueue(database, label: "test", depth: 2)
        #expect(try queue.runIfIdle { _ in pthread_self() } == pthread_self())
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await queue.run { _ in gate.hold() } }
            await gate.await()
            #expect(try queue.runIfIdle { _ in true } == nil)
            gate.release()
            try await group.waitForAll()
        }
        await queue.close()
        #expect(throws: StorageError.closed) { try queue.runIfIdle { _ in true } }
    }
}
