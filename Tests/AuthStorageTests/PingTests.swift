import AuthCore
import Glibc
import TestPrimitives
import Testing

@testable import AuthStorage

@Suite(.indexesAreUsed) struct PingTests {
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

    @Test func aPostgresDatabaseAnswers() async throws {
        let store = try #require(try await Engine.postgres.open() as? PostgresStore)
        // On a busy machine the first query may take longer than the readiness check waits.
        while true {
            do {
                return try await store.ping()
            } catch StorageError.unresponsive {
                continue
            }
        }
    }

    /// Logins read these tables: a server that cannot log anybody in is not ready.
    @Test(arguments: [
        "account", "sqlite_autoindex_account_1", "sqlite_autoindex_account_2",
        "sqlite_autoindex_account_3", "user", "sqlite_autoindex_user_2", "api_token",
        "sqlite_autoindex_api_token_2", "user_session", "hash_login", "spent_challenge",
        "signing_key", "audit",
    ])
    func aDamagedTableOrIndexThatLoginsNeedIsFound(name: String) async throws {
        let directory = try TemporaryDirectory()
        var settings = SQLiteSettings()
        settings.pingTimeout = .seconds(300)
        let store = try directory.open(settings)
        #expect(try await store.insert(user(1)))
        #expect(try await store.insert(account(1)))
        #expect(try await store.insert(token(1)))
        #expect(try await store.insert(session(1)))
        #expect(try await store.insertFirst(key("k")))
        #expect(try await store.spend("one", expiry: .epoch))
        let login = HashLogin(
            email: try email("a@b.test"), url: HashURL(text: "https://b.test/h"),
            created: .epoch)
        #expect(try await store.insert(login, recording: event(.hashLoginCreated)))
        try await store.ping()
        await store.close()

        try directory.damage(name)
        let damaged = try directory.open(settings)
        do {
            try await damaged.ping()
            Issue.record("not found")
        } catch let error as StorageError {
            #expect(error.isDamage, "\(error)")
        }
        await damaged.close()
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

extension TemporaryDirectory {
    /// Overwrites the first page of a table or an index, as a failing disk might.
    fileprivate func damage(_ name: String) throws {
        let connection = try SQLiteConnection(path: database, busyTimeout: .zero)
        let page = try #require(
            try connection.first(
                Query("page", "SELECT rootpage FROM sqlite_schema WHERE name = ?1"), .text(name)
            ) { try $0.integer(0) })
        let size = try #require(
            try connection.first(Query("size", "PRAGMA page_size")) { try $0.integer(0) })
        let file = Glibc.open(database, O_WRONLY)
        defer { close(file) }
        let garbage = [UInt8](repeating: 0xee, count: Int(size))
        #expect(pwrite(file, garbage, garbage.count, Int((page - 1) * size)) == garbage.count)
    }
}
