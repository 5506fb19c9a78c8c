import AuthCore
import Testing

@testable import AuthStorage

@Suite struct DatabaseTests {
    @Test func aURLNamesAFileOrMemory() throws {
        #expect(try Database(url: "sqlite::memory:") == .inMemory)
        #expect(try Database(url: "sqlite:data/postern.db") == .inDirectory("data"))
        #expect(try Database(url: "sqlite:/var/lib/a b.db").name == "/var/lib/a b.db")
    }

    @Test(arguments: ["sqlite::memory:", "sqlite:a.db", "sqlite:/var/lib/a b.db"])
    func itsURLReadsBackAsTheSameDatabase(url: String) throws {
        #expect(try Database(url: url).url == url)
    }

    @Test(arguments: [
        "", "sqlite", "sqlite:", "postgresql:host/postern", "data/postern.db", "sqlite:a\0b",
        "sqlite:a\nb", "sqlite:\u{7f}", "sqlite::mem:",
    ])
    func anyOtherURLIsAnErrorThatNamesWhatIsAccepted(url: String) throws {
        let error = try #require(throws: DatabaseURLError.self) { try Database(url: url) }
        #expect(error == DatabaseURLError(url: url))
        #expect(error.description.contains(Database.acceptedURLs))
    }

    @Test func aPathHasAtMostAThousandBytes() throws {
        let longest = "sqlite:" + String(repeating: "a", count: 1000)
        #expect(try Database(url: longest).url == longest)
        #expect(throws: DatabaseURLError.self) { try Database(url: longest + "a") }
    }

    @Test func onlyAFileCanBeMissing() async throws {
        let directory = try TemporaryDirectory()
        let database = Database.inDirectory(directory.path)
        #expect(database.isMissing && !database.isInMemory)
        #expect(!Database.inMemory.isMissing && Database.inMemory.isInMemory)
        // A directory that cannot be searched: the file may be there.
        #expect(!Database.inDirectory("/dev/null").isMissing)
        await (try await database.open(at: .epoch)).close()
        #expect(!database.isMissing)
    }

    @Test func migrationsArePendingThenAppliedOnce() async throws {
        let directory = try TemporaryDirectory()
        let database = Database.inDirectory(directory.path)
        #expect(try await database.migrationStatus().pending == Migration.sqlite)
        #expect(database.isMissing)
        #expect(try await database.migrate(at: .epoch) == Migration.sqlite)
        #expect(try await database.migrate(at: .epoch) == [])
        #expect(try await database.migrationStatus().applied == Migration.sqlite)
    }

    @Test func aBackupOpensAsADatabase() async throws {
        let directory = try TemporaryDirectory()
        let database = Database.inDirectory(directory.path)
        let stores = try await database.open(at: .epoch)
        #expect(try await stores.accounts.insert(account(1)))
        let copy = "\(directory.path)/copy.db"
        try database.backUp(to: copy)
        await stores.close()
        let restored = try await Database(url: "sqlite:\(copy)").open(at: .epoch)
        #expect(try await restored.accounts.account(id: accountID(1)) == account(1))
        await restored.close()
    }
}
