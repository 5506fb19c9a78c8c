import AuthCore
import Glibc
import Testing

@testable import AuthStorage

@Suite struct SQLiteBackupTests {
    private let directory: TemporaryDirectory
    private var copy: String { "\(directory.path)/copy.db" }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func backup(pagesPerStep: Int32 = 1) -> SQLiteBackup {
        SQLiteBackup(
            of: .file(directory.database), settings: SQLiteSettings(), pagesPerStep: pagesPerStep)
    }

    private func insert(_ number: Int, into store: SQLiteStore) async throws {
        let event = AuditEvent(.accountCreated, time: .epoch, actor: .operator, subject: "s")
        #expect(
            try await store.insert(try account(number), limit: nil, recording: event) == .inserted)
    }

    @Test func aCopyOfADatabaseInUseHoldsWhatWasAcknowledged() async throws {
        let store = try directory.open()
        try await insert(1, into: store)
        try backup().write(to: copy)
        var status = stat()
        #expect(stat(copy, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        // There is no other file, such as a log that would belong to the copy.
        #expect(
            TemporaryDirectory.names(in: directory.path).filter { $0.contains("copy") }
                == ["copy.db"])

        let restored = try SQLiteStore.open(.file(copy), at: .epoch)
        #expect(try await restored.account(id: accountID(1)) == (try account(1)))
        await restored.close()
        await store.close()
    }

    @Test func writesDuringACopyAreNotInItAndDoNotRestartIt() async throws {
        let store = try directory.open()
        try await insert(1, into: store)
        let other = try SQLiteConnection(path: directory.database, busyTimeout: .zero)
        let add = Query(
            "add", "INSERT INTO retired_address (address) VALUES (?1)")
        var seen: [BackupProgress] = []
        try backup().write(to: copy) { progress throws in
            seen.append(progress)
            // A copy that begins again after each write would never end.
            guard seen.count < 1000 else { throw StoreBusy() }
            #expect(try other.run(add, .text("a\(seen.count)@mail.test")) == 1)
        }
        let total = try #require(seen.first?.totalBytes)
        #expect(seen.count > 2)
        #expect(seen.allSatisfy { $0.totalBytes == total })
        #expect(seen.last?.copiedBytes == total)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.copiedBytes < $1.copiedBytes })

        let copied = try SQLiteConnection(path: copy, busyTimeout: .zero)
        let count = Query("count", "SELECT count(*) FROM retired_address")
        #expect(try copied.first(count) { try $0.integer(0) } == 0)
        #expect(try other.first(count) { try $0.integer(0) } == Int64(seen.count))
        await store.close()
    }

    @Test func anOlderDatabaseIsCopiedWithoutMigration() throws {
        let one = Migration(1, "one", Array("CREATE TABLE a (x INTEGER) STRICT;".utf8))
        let two = Migration(2, "two", Array("CREATE TABLE b (x INTEGER) STRICT;".utf8))
        let settings = SQLiteSettings()
        _ = try SQLiteMigrator(.file(directory.database), settings: settings, known: [one])
            .migrate(at: .epoch)
        try backup().write(to: copy)
        let plan = try SQLiteMigrator(.file(copy), settings: settings, known: [one, two]).status()
        #expect(plan == MigrationStatus(applied: [one], pending: [two]))
    }

    @Test func anExistingFileIsNotOverwritten() async throws {
        await (try directory.open()).close()
        let file = try #require(fopen(copy, "w"))
        fputs("mine", file)
        fclose(file)
        #expect(throws: StorageError.inaccessible(path: copy, code: EEXIST)) {
            try backup().write(to: copy)
        }
        var status = stat()
        #expect(stat(copy, &status) == 0)
        #expect(status.st_size == 4)
    }

    @Test func anotherProgramsFileIsNotCopied() throws {
        let other = try #require(fopen(directory.database, "w"))
        fputs("a letter to the editor", other)
        fclose(other)
        #expect(throws: MigrationError.foreign(path: directory.database)) {
            try backup().write(to: copy)
        }
        #expect(access(copy, F_OK) != 0)
    }

    @Test func anErrorOfTheProgressCallbackEndsTheCopy() async throws {
        let store = try directory.open()
        #expect(throws: StoreBusy.self) {
            try backup().write(to: copy) { _ in throw StoreBusy() }
        }
        // The snapshot was released: the next copy has the writes since then.
        try await insert(1, into: store)
        unlink(copy)
        try backup().write(to: copy)
        await store.close()
    }

    @Test func aDamagedDatabaseIsDetectedAtTheBackup() async throws {
        let store = try directory.open()
        for number in 1...400 { try await insert(number, into: store) }
        await store.close()
        var status = stat()
        #expect(stat(directory.database, &status) == 0)
        let descriptor = open(directory.database, O_WRONLY)
        // The last page belongs to a table or an index, and its first bytes are its header.
        let page = [UInt8](repeating: 0xff, count: 64)
        #expect(pwrite(descriptor, page, page.count, status.st_size - 4096) == page.count)
        close(descriptor)
        #expect(throws: StorageError.failed(statement: "quickCheck", code: .sqlite(11))) {
            try backup().write(to: copy)
        }
    }
}
