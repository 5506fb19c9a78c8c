import AuthCore
import Synchronization
import TestPrimitives
import Testing

@testable import AuthStorage

/// An observer gets every recorded event once, and nothing else.
@Suite struct EventObserverTests {
    private final class Heard: Sendable {
        private let events = Mutex<[AuditEvent]>([])

        var subjects: [String] { events.withLock { $0.map(\.subject) } }

        @Sendable func hear(_ event: AuditEvent) { events.withLock { $0.append(event) } }
    }

    private struct TestError: Error {}

    @Test func anEventIsReportedBeforeTheWriteReturns() async throws {
        let heard = Heard()
        let store = try SQLiteStore.open(
            .memory, observers: StoreObservers(event: heard.hear), at: .epoch)
        for number in 0..<20 {
            _ = try await store.insert(user(number), recording: event(.userCreated, "\(number)"))
            #expect(heard.subjects.last == "\(number)")
        }
        #expect(try await store.subjects == heard.subjects)
    }

    @Test func aReportedEventIsDurable() async throws {
        let directory = try TemporaryDirectory()
        let found = Mutex<[Int]>([])
        let store = try SQLiteStore.open(
            .file(directory.database),
            observers: StoreObservers(event: { _ in
                let reader = try? SQLiteConnection.readable(
                    .file(directory.database), settings: SQLiteSettings())
                let rows = try? reader?.all(Query("seen", "SELECT 1 FROM audit")) { _ in 1 }
                found.withLock { $0.append(rows?.count ?? -1) }
            }), at: .epoch)
        for _ in 0..<3 { try await store.append(event()) }
        #expect(found.withLock { $0 } == [1, 2, 3])
        await store.close()
    }

    @Test func aWriteThatChangesNothingOrFailsIsNotReported() async throws {
        let heard = Heard()
        let store = try SQLiteStore.open(
            .memory, observers: StoreObservers(event: heard.hear), at: .epoch)
        let gate = Gate()
        let held = Task { try await store.write { _ in gate.hold() } }
        await gate.await()
        // All of these wait once they are added, and are committed as one batch.
        await withDiscardingTaskGroup { group in
            for number in 0..<6 {
                group.addImmediateTask {
                    _ = try? await store.write { database in
                        try database.record(event(.loginFailed, "\(number)"))
                        if number % 2 == 1 { throw TestError() }
                    }
                }
            }
            #expect(store.waitingWrites == 6)
            gate.release()
        }
        try await held.value
        #expect(try await store.setState(of: userID(1), to: .disabled) == false)
        #expect(heard.subjects.sorted() == ["0", "2", "4"])
    }

    @Test func aFailedTransactionIsNotReported() async throws {
        let heard = Heard()
        let store = try SQLiteStore.open(
            .memory, observers: StoreObservers(event: heard.hear), at: .epoch)
        await #expect(throws: (any Error).self) {
            try await store.write { database in
                try database.record(event(.tokenCreated, "lost"))
                // The missing owner is detected only at the commit.
                try database.execute(script: "PRAGMA defer_foreign_keys = ON", name: "defer")
                try database.run(
                    Query(
                        "orphan",
                        "INSERT INTO api_token (id, owner, name, digest, created) "
                            + "VALUES ('a', 'nobody', 'a', zeroblob(32), 1)"))
            }
        }
        try await store.append(event(.loginFailed, "kept"))
        #expect(heard.subjects == ["kept"])
        #expect(try await store.subjects == ["kept"])
    }
}
