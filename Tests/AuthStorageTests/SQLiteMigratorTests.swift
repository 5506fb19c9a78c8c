import AuthCore
import Glibc
import Testing

@testable import AuthStorage

@Suite struct SQLiteMigratorTests {
    private let one = Migration(1, "one", Array("CREATE TABLE a (x INTEGER) STRICT;".utf8))
    private let two = Migration(2, "two", Array("CREATE TABLE b (x INTEGER) STRICT;".utf8))

    private func migrator(
        _ directory: TemporaryDirectory, _ known: [Migration], busyTimeout: Duration = .seconds(30)
    ) -> SQLiteMigrator {
        var settings = SQLiteSettings()
        settings.busyTimeout = busyTimeout
        return SQLiteMigrator(.file(directory.database), settings: settings, known: known)
    }

    private func edit(_ directory: TemporaryDirectory, _ script: String) throws {
        let database = try SQLiteConnection(path: directory.database, busyTimeout: .zero)
        try database.execute(script: script, name: "edit")
    }

    @Test func aNewFileGetsEveryMigrationInOrder() throws {
        let directory = try TemporaryDirectory()
        let migrator = migrator(directory, [one, two])
        #expect(try migrator.migrate(at: .epoch) == [one, two])
        #expect(try migrator.migrate(at: .epoch) == [])
    }

    @Test func anOlderDatabaseGetsThePendingMigrations() throws {
        let directory = try TemporaryDirectory()
        _ = try migrator(directory, [one]).migrate(at: .epoch)
        let plan = try migrator(directory, [one, two]).status()
        #expect(plan == MigrationStatus(applied: [one], pending: [two]))
        #expect(try migrator(directory, [one, two]).migrate(at: .epoch) == [two])
        let after = try migrator(directory, [one, two]).status()
        #expect(after == MigrationStatus(applied: [one, two], pending: []))
    }

    @Test func theStatusChangesNothing() throws {
        let directory = try TemporaryDirectory()
        let plan = try migrator(directory, [one]).status()
        #expect(plan == MigrationStatus(applied: [], pending: [one]))
        #expect(TemporaryDirectory.names(in: directory.path) == [])
    }

    @Test func eachMigrationIsRecordedWithItsChecksumAndTime() throws {
        let directory = try TemporaryDirectory()
        _ = try migrator(directory, [one, two]).migrate(at: Instant(milliseconds: 77))
        let database = try SQLiteConnection(path: directory.database, busyTimeout: .zero)
        let query = Query("noted", "SELECT name, checksum, applied_at FROM schema_migration")
        let rows = try database.all(query) { row in
            "\(try row.text(0)) \(try row.text(1)) \(try row.integer(2))"
        }
        #expect(rows == ["one \(one.checksum) 77", "two \(two.checksum) 77"])
    }

    @Test func aFailedMigrationIsRolledBack() throws {
        let directory = try TemporaryDirectory()
        let broken = Migration(
            2, "two", Array("CREATE TABLE b (x INTEGER) STRICT; CREATE TABLE a (x ANY);".utf8))
        #expect(throws: StorageError.failed(statement: "migration 2", code: .sqlite(1))) {
            try migrator(directory, [one, broken]).migrate(at: .epoch)
        }
        // With the one before it.
        #expect(try migrator(directory, [one, two]).migrate(at: .epoch) == [one, two])
    }

    @Test func aNewerDatabaseIsRejected() throws {
        let directory = try TemporaryDirectory()
        _ = try migrator(directory, [one, two]).migrate(at: .epoch)
        let error = MigrationError.newer(path: directory.database, database: 2, program: 1)
        #expect(throws: error) { try migrator(directory, [one]).migrate(at: .epoch) }
        #expect(throws: error) { try migrator(directory, [one]).status() }
    }

    @Test func aStoreDoesNotOpenANewerDatabase() throws {
        let directory = try TemporaryDirectory()
        _ = try directory.open()
        let known = Migration.sqlite.count
        try edit(
            directory, "INSERT INTO schema_migration VALUES (\(known + 1), 'later', 'x', 0)")
        let error = MigrationError.newer(
            path: directory.database, database: known + 1, program: known)
        #expect(throws: error) { try directory.open() }
    }

    @Test func anEditedMigrationIsRejected() throws {
        let directory = try TemporaryDirectory()
        _ = try migrator(directory, [one]).migrate(at: .epoch)
        let edited = Migration(1, "one", Array("CREATE TABLE a (y INTEGER) STRICT;".utf8))
        #expect(
            throws: MigrationError.changed(path: directory.database, number: 1, name: "one")
        ) { try migrator(directory, [edited, two]).migrate(at: .epoch) }
    }

    @Test func aGapIsRejected() throws {
        let directory = try TemporaryDirectory()
        _ = try migrator(directory, [one, two]).migrate(at: .epoch)
        try edit(directory, "DELETE FROM schema_migration WHERE number = 1")
        #expect(throws: MigrationError.gap(path: directory.database, expected: 1, found: 2)) {
            try migrator(directory, [one, two]).migrate(at: .epoch)
        }
    }

    @Test(arguments: [
        "CREATE TABLE other (x)", "PRAGMA application_id = 42",
        "CREATE TABLE schema_migration (number, name, checksum, applied_at)",
    ])
    func anotherProgramsDatabaseIsNotChanged(script: String) throws {
        let directory = try TemporaryDirectory()
        try SQLiteLocation.file(directory.database).create()
        try edit(directory, script)
        let before = try contents(directory.database)
        #expect(throws: MigrationError.foreign(path: directory.database)) {
            try directory.open()
        }
        #expect(try contents(directory.database) == before)
        #expect(TemporaryDirectory.names(in: directory.path) == ["postern.db"])
    }

    @Test func aFileThatIsNoDatabaseIsNotChanged() throws {
        let directory = try TemporaryDirectory()
        let text = String(repeating: "no database at all\n", count: 100)
        let file = try #require(fopen(directory.database, "w"))
        fputs(text, file)
        fclose(file)
        #expect(throws: MigrationError.foreign(path: directory.database)) {
            try directory.open()
        }
        #expect(try contents(directory.database) == Array(text.utf8))
    }

    @Test func ofConcurrentProgramsOneAppliesEachMigration() async throws {
        for _ in 0..<5 {
            let directory = try TemporaryDirectory()
            let migrator = migrator(directory, [one, two])
            let applied = try await withThrowingTaskGroup(of: [Migration].self) { group in
                for _ in 0..<6 { group.addTask { try migrator.migrate(at: .epoch) } }
                return try await group.reduce([], +)
            }
            #expect(applied.map(\.number).sorted() == [1, 2])
        }
    }

    @Test func aChecksumIsTheSHA256OfTheFile() {
        // FIPS 180-2, appendix B.1.
        #expect(
            Migration(1, "x", Array("abc".utf8)).checksum
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    @Test(arguments: [("sqlite", Migration.sqlite), ("postgres", Migration.postgres)])
    func theEmbeddedMigrationsAreTheFiles(engine: String, migrations: [Migration]) throws {
        let directory = try #require(Self.migrations) + "/" + engine
        let names = TemporaryDirectory.names(in: directory)
        #expect(names.count == migrations.count)
        for (index, name) in names.enumerated() {
            try #require(migrations.indices.contains(index))
            let known = migrations[index]
            let digits = String(index + 1)
            let padded = String(repeating: "0", count: 4 - digits.count) + digits
            #expect(name == "\(padded)_\(known.name).sql")
            let bytes = try contents("\(directory)/\(name)")
            #expect(known == Migration(index + 1, known.name, bytes))
        }
    }

    private static var migrations: String? {
        #filePath.ranges(of: "/Tests/AuthStorageTests/").first.map { tests in
            #filePath[..<tests.lowerBound] + "/migrations"
        }
    }

    private func contents(_ path: String) throws -> [UInt8] {
        let file = try #require(fopen(path, "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return bytes
    }
}
