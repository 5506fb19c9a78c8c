import AuthCore
import Testing

@testable import AuthStorage

@Suite struct PostgresMigratorTests {
    private func migrator(_ url: PostgresURL, _ known: [Migration]) -> PostgresMigrator {
        PostgresMigrator(url, settings: TestServer.settings, known: known)
    }

    private static let two = [
        Migration(1, "one", Array("CREATE TABLE one (id bigint); CREATE TABLE more ()".utf8)),
        Migration(2, "two", Array("CREATE TABLE two ()".utf8)),
    ]

    @Test func serversThatStartTogetherApplyEachMigrationOnce() async throws {
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        let applied = try await withThrowingTaskGroup(of: [Migration].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try PostgresMigrator(url, settings: TestServer.settings).migrate(at: .epoch)
                }
            }
            return try await group.reduce([]) { $0 + $1 }
        }
        #expect(applied.sorted { $0.number < $1.number } == Migration.postgres)
        #expect(try PostgresMigrator(url).status().pending.isEmpty)
    }

    @Test func theStatusChangesNothing() throws {
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        #expect(try migrator(url, Self.two).status().pending == Self.two)
        #expect(try migrator(url, [Self.two[0]]).migrate(at: .epoch) == [Self.two[0]])
        let status = try migrator(url, Self.two).status()
        #expect(status.applied == [Self.two[0]] && status.pending == [Self.two[1]])
        #expect(try migrator(url, Self.two).migrate(at: .epoch) == [Self.two[1]])
    }

    @Test func aNewerOrAnotherSchemaIsRefused() throws {
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        _ = try migrator(url, Self.two).migrate(at: .epoch)
        #expect(throws: MigrationError.newer(path: url.shown, database: 2, program: 1)) {
            try migrator(url, [Self.two[0]]).migrate(at: .epoch)
        }
        let edited = [Migration(1, "one", Array("CREATE TABLE other ()".utf8)), Self.two[1]]
        #expect(throws: MigrationError.changed(path: url.shown, number: 1, name: "one")) {
            try migrator(url, edited).status()
        }
    }

    @Test func aMigrationThatFailsChangesNothing() throws {
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        let broken = Migration(2, "broken", Array("CREATE TABLE two (); SELECT 1 / 0".utf8))
        #expect(throws: StorageError.failed(statement: "migration 2", code: .sqlState("22012"))) {
            try migrator(url, [Self.two[0], broken]).migrate(at: .epoch)
        }
        #expect(try migrator(url, Self.two).status().pending == [Self.two[1]])
        #expect(try migrator(url, Self.two).migrate(at: .epoch) == [Self.two[1]])
    }

    @Test func accountsOfTheFirstMigrationAreInTheFeedFromTheirNextChangeOn() async throws {
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        let first = Array(Migration.postgres.prefix(1))
        #expect(try migrator(url, first).migrate(at: .epoch) == first)
        try TestServer.shared.connect(to: url).execute(
            script: """
                INSERT INTO account (id, address, state, api_key_digest, credential_version, quota,
                                     used, created, deleted)
                VALUES ('\(accountID(1))', 'user1@mail.test', 'active', sha256('1'), 1, 1000, 0,
                        now(), NULL),
                       ('\(accountID(2))', 'gone@mail.test', 'deleted', NULL, 1, 1000, 0, now(),
                        now())
                """, name: "old")
        let store = try await PostgresStore.open(url, settings: TestServer.settings, at: .epoch)
        #expect(try await store.lastAccountEvent() == 0)
        #expect(try await store.free(address("gone@mail.test")))
        #expect(try await store.delete(accountID(1), at: nil))
        let events = try await store.accountEvents(after: 0, limit: 9)
        #expect(events.map(\.account) == [accountID(2), accountID(1)])
    }

    @Test func usersOfTheFourthMigrationKeepTheirPasswordsAndTokens() async throws {
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        _ = try migrator(url, Array(Migration.postgres.prefix(4))).migrate(at: .epoch)
        let one = try user(1)
        try TestServer.shared.connect(to: url).execute(
            script: """
                INSERT INTO pro_user (id, email, state, password_hash, credential_version, created)
                VALUES ('\(one.id)', '\(one.email)', 'active', '\(hash("1").encoded)', 1,
                        timestamptz 'epoch' + interval '\(one.created.milliseconds) ms');
                INSERT INTO api_token (id, owner, name, digest, scopes, created)
                VALUES ('\(tokenID(1))', '\(one.id)', 'token 1', sha256('1'), 'accounts', now())
                """, name: "old")
        let store = try await PostgresStore.open(url, settings: TestServer.settings, at: .epoch)
        #expect(try await store.user(id: one.id) == one)
        #expect(try await store.tokens(of: one.id).count == 1)
        #expect(try await store.sessions(of: one.id, at: .epoch).isEmpty)
        #expect(try await store.insert(session(1)))
        #expect(try await store.replacePassword(of: one.id, at: 1, with: hash("new")))
        let last = User(
            id: userID(4), email: try email("d@example.test"), password: nil, created: .epoch)
        #expect(try await store.insert(last))
        #expect(try await store.user(id: last.id) == last)
    }

    @Test func theTablesOfAnotherProgramAreLeftAlone() throws {
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        let other = try TestServer.shared.connect(to: url)
        try other.execute(script: "CREATE TABLE account (mine bigint)", name: "other")
        #expect(throws: MigrationError.foreign(path: url.shown)) {
            try PostgresMigrator(url, settings: TestServer.settings).migrate(at: .epoch)
        }
        #expect(try migrator(url, Self.two).status().applied.isEmpty)
    }

    @Test func aServerThatCannotBeReachedIsNamedWithoutThePassword() throws {
        let url = try #require(PostgresURL("postgresql://me:s3cret@/nosuch?host=/nonexistent"))
        let error = #expect(throws: StorageError.self) { try PostgresMigrator(url).status() }
        let text = String(describing: error)
        #expect(text.contains("nonexistent") && !text.contains("s3cret"))
    }

    @Test(arguments: ["postgresql://me:s3%ret@h/d", "postgresql://me:s3cret@h:x/d?nosuch=s3cret"])
    func aURLThatLibpqCannotReadIsNotShown(text: String) throws {
        let url = try #require(PostgresURL(text))
        let error = #expect(throws: StorageError.self) { try PostgresMigrator(url).status() }
        #expect(!String(describing: error).contains("s3%ret"))
        #expect(!String(describing: error).contains(":s3cret"))
    }
}
