import AuthCore
import Glibc
import Synchronization
import Testing

@testable import AuthStorage

/// What the SQLite engine guarantees beyond the protocols.
@Suite struct SQLiteStoreTests {
    private var withoutWaiting: SQLiteSettings {
        var settings = SQLiteSettings()
        settings.busyTimeout = .zero
        return settings
    }

    /// Opens a connection as another program would.
    private func otherProgram(_ directory: TemporaryDirectory) throws -> SQLiteConnection {
        try SQLiteConnection(path: directory.database, busyTimeout: .zero)
    }

    @Test func whatWasAcknowledgedIsThereAfterReopening() async throws {
        let directory = try TemporaryDirectory()
        let first = try directory.open()
        #expect(try await first.insert(account(1)))
        #expect(try await first.insert(account(2)))
        #expect(try await first.delete(accountID(2), at: nil))
        #expect(try await first.spend("spent", expiry: .epoch))
        #expect(try await first.insertFirst(key("k")))
        await first.close()

        let second = try directory.open()
        #expect(try await second.account(id: accountID(1)) == account(1))
        #expect(try await !second.insert(account(3, "user2@mail.test")))
        #expect(try await !second.spend("spent", expiry: .epoch))
        #expect(try await second.keys() == [key("k")])
    }

    @Test func aLockedFileIsBusyAndNeverAnAbsence() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open(withoutWaiting)
        #expect(try await store.insert(account(1)))
        let otherProgram = try otherProgram(directory)
        try otherProgram.execute(script: "BEGIN IMMEDIATE", name: "lock")

        await #expect(throws: StoreBusy.self) { try await store.insert(account(2)) }
        await #expect(throws: StoreBusy.self) { try await store.spend("a", expiry: .epoch) }
        await #expect(throws: StoreBusy.self) { try await store.delete(accountID(1), at: nil) }
        await #expect(throws: StoreBusy.self) { try await store.insertFirst(key("k")) }
        // With a write-ahead log a writer does not block readers.
        #expect(try await store.account(id: accountID(1)) == account(1))

        try otherProgram.execute(script: "ROLLBACK", name: "unlock")
        #expect(try await store.insert(account(2)))
        #expect(try await store.spend("a", expiry: .epoch))
    }

    @Test func aFullDiskFailsWritesAndIsReportedOnce() async throws {
        let directory = try TemporaryDirectory()
        let reported = Mutex<[Bool]>([])
        let store = try SQLiteStore.open(
            .file(directory.database),
            observers: StoreObservers(diskFull: { isFull in reported.withLock { $0.append(isFull) }
            }),
            at: .epoch)
        #expect(try await store.insert(account(1)))
        // The file cannot grow.
        try await store.write { try $0.execute(script: "PRAGMA max_page_count = 1", name: "fill") }
        var made = 1
        await #expect(throws: StoreFull.self) {
            while try await store.insert(account(made + 1)) { made += 1 }
        }
        await #expect(throws: StoreFull.self) {
            while try await store.spend(String(repeating: "a", count: 4_000), expiry: .epoch) {}
        }
        #expect(reported.withLock { $0 } == [true])
        #expect(try await store.accounts(after: nil, limit: 1_000).count == made)

        try await store.write {
            try $0.execute(script: "PRAGMA max_page_count = 100000", name: "empty")
        }
        #expect(try await store.insert(account(made + 1)))
        #expect(reported.withLock { $0 } == [true])
    }

    @Test func aDiskThatFailsFailsWritesUntilItWorksAgainAndIsReportedOnce() async throws {
        let directory = try TemporaryDirectory()
        let reported = Mutex<[String?]>([])
        let store = try SQLiteStore.open(
            .file(directory.database),
            observers: StoreObservers(diskFailing: { cause in
                reported.withLock { $0.append(cause) }
            }),
            at: .epoch)
        #expect(try await store.insert(account(1)))
        try await store.writer.run {
            try $0.execute(script: "PRAGMA query_only = ON", name: "break")
        }
        for number in 2...3 {
            await #expect(throws: StoreDiskFailure.self) { try await store.insert(account(number)) }
        }
        let causes = reported.withLock { $0 }
        #expect(causes.count == 1 && causes[0]?.contains("SQLite's code 8") == true)
        #expect(try await store.accounts(after: nil, limit: 1_000).count == 1)

        try await store.writer.run {
            try $0.execute(script: "PRAGMA query_only = OFF", name: "mend")
        }
        #expect(try await store.insert(account(2)))
        #expect(reported.withLock { $0 }.count == 1)
    }

    @Test func anExclusivelyLockedFileIsBusyForReadersToo() async throws {
        let directory = try TemporaryDirectory()
        let first = try directory.open(withoutWaiting)
        #expect(try await first.insert(account(1)))
        await first.close()
        let otherProgram = try otherProgram(directory)
        try otherProgram.execute(
            script: "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", name: "lock")
        #expect(throws: StoreBusy.self) { try directory.open(withoutWaiting) }
    }

    @Test func aReadOfALockedFileIsBusy() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open(withoutWaiting)
        #expect(try await store.insert(account(1)))
        // With a write-ahead log no server can lock another's readers out; without one it can.
        await store.close()
        let otherProgram = try otherProgram(directory)
        try otherProgram.execute(script: "PRAGMA journal_mode = DELETE", name: "leave")
        let reader = ConnectionQueue(
            try SQLiteConnection.readable(.file(directory.database), settings: withoutWaiting),
            label: "test", depth: 4)
        try otherProgram.execute(script: "BEGIN EXCLUSIVE", name: "lock")
        await #expect(throws: StoreBusy.self) {
            try await reader.run { database in
                try database.first(Query("count", "SELECT count(*) FROM account")) { row in
                    try row.integer(0)
                }
            }
        }
    }

    @Test func callsOfAClosedStoreThrowClosed() async throws {
        var settings = SQLiteSettings()
        // The default is one second, which may be too short on a busy machine.
        settings.pingTimeout = .seconds(300)
        let store = try SQLiteStore.open(.memory, settings: settings, at: .epoch)
        await store.close()
        await #expect(throws: StorageError.closed) { try await store.account(id: accountID(1)) }
        await #expect(throws: StorageError.closed) { try await store.insert(account(1)) }
        await #expect(throws: StorageError.closed) { try await store.ping() }
    }

    @Test func onlyTheOwnerMayReadTheFiles() async throws {
        let directory = try TemporaryDirectory()
        let nested = "\(directory.path)/a/b"
        let store = try SQLiteStore.open(.file("\(nested)/postern.db"), at: .epoch)
        #expect(try await store.insert(account(1)))
        let names = TemporaryDirectory.names(in: nested)
        #expect(names == ["postern.db", "postern.db-shm", "postern.db-wal"])
        for name in names { #expect(mode("\(nested)/\(name)") == 0o600) }
        #expect(mode(nested) == 0o700)
        await store.close()
        for name in TemporaryDirectory.names(in: nested) { unlink("\(nested)/\(name)") }
        rmdir(nested)
        rmdir("\(directory.path)/a")
    }

    @Test func aDirectoryThatCannotBeMadeIsNamed() throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        defer { withExtendedLifetime(store) {} }
        #expect(
            throws: StorageError.inaccessible(path: "\(directory.database)/x.db", code: ENOTDIR)
        ) {
            try SQLiteStore.open(.file("\(directory.database)/x.db"), at: .epoch)
        }
    }

    @Test func everythingIsSyncedBeforeItIsAcknowledged() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        let pragmas = ["synchronous": 2, "foreign_keys": 1, "trusted_schema": 0]
        for (name, expected) in pragmas {
            let value = try await store.write { database in
                try database.first(Query(name, "PRAGMA \(name)")) { try $0.integer(0) }
            }
            #expect(value == Int64(expected), "\(name)")
        }
        let mode = try await store.read { database in
            try database.first(Query("mode", "PRAGMA journal_mode")) { try $0.text(0) }
        }
        #expect(mode == "wal")
    }

    @Test func readersCannotWrite() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        await #expect(throws: StorageError.failed(statement: "sneak", code: .sqlite(8))) {
            try await store.read { database in
                try database.run(Query("sneak", "DELETE FROM retired_address"))
            }
        }
    }

    @Test(arguments: [(0, 0), (4096, 4096), (-1, 0), (1 << 30, 1 << 30)])
    func readersMapAsMuchAsConfigured(asked: Int, expected: Int64) async throws {
        let directory = try TemporaryDirectory()
        var settings = SQLiteSettings()
        settings.mappedBytes = asked
        let store = try directory.open(settings)
        let mapped = try await store.read { database in
            try database.first(Query("mapped", "PRAGMA mmap_size")) { try $0.integer(0) }
        }
        #expect(mapped == expected)
        #expect(try await store.insert(account(1)))
        #expect(try await store.account(id: accountID(1)) == account(1))
    }

    @Test func aDamagedRowIsAnErrorAndNotAnAbsence() async throws {
        let store = try SQLiteStore.open(.memory, at: .epoch)
        #expect(try await store.insert(account(1)))
        for (column, value) in [("address", "'no address'"), ("state", "'weird'")] {
            try await store.write { database in
                try database.execute(
                    script: "UPDATE account SET \(column) = \(value)", name: "damage")
            }
            await #expect(throws: StorageError.unreadable(column: column)) {
                try await store.account(id: accountID(1))
            }
            try await store.write { database in
                try database.execute(
                    script: "UPDATE account SET address = 'user1@mail.test', state = 'active'",
                    name: "repair")
            }
        }
        try await store.write { database in
            try database.execute(
                script: """
                    PRAGMA ignore_check_constraints = ON;
                    UPDATE account SET api_key_digest = NULL;
                    """,
                name: "damage")
        }
        await #expect(throws: StorageError.unreadable(column: "api_key_digest")) {
            try await store.account(id: accountID(1))
        }
    }

    @Test func aKeyOfAnUnknownUseIsIgnored() async throws {
        let store = try SQLiteStore.open(.memory, at: .epoch)
        #expect(try await store.insertFirst(key("a")))
        try await store.write { database in
            try database.execute(
                script: "INSERT INTO signing_key VALUES ('z', 'later', x'00', 1, NULL)",
                name: "later")
        }
        #expect(try await store.keys() == [key("a")])
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        guard stat(path, &status) == 0 else { return 0 }
        return status.st_mode & 0o777
    }
}
