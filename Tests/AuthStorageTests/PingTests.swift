import AuthCore
import TestPrimitives
import Testing

@testable import AuthStorage

@Suite struct PingTests {
    @Test(arguments: [true, false])
    func anOpenDatabaseAnswers(inMemory: Bool) async throws {
        let directory = try TemporaryDirectory()
        var settings = SQLiteSettings()
        // The default is one second, which may be too short on a busy machine.
        settings.pingTimeout = .seconds(300)
        let store =
            inMemory
            ? try SQLiteStore.open(.memory, settings: settings, at: .epoch)
            : try directory.open(settings)
        try await store.ping()
    }

    @Test func aDatabaseThatHangsIsUnresponsive() async throws {
        var settings = SQLiteSettings()
        settings.pingTimeout = .milliseconds(5)
        let store = try SQLiteStore.open(.memory, settings: settings, at: .epoch)
        let gate = Gate()
        let held = Task {
            try await store.write { _ in gate.hold() }
        }
        await gate.await()
        await #expect(throws: StorageError.unresponsive(after: .milliseconds(5))) {
            try await store.ping()
        }
        gate.release()
        try await held.value
        // Not by another ping: five milliseconds may be too short on a busy machine.
        #expect(try await store.keys().isEmpty)
    }
}
