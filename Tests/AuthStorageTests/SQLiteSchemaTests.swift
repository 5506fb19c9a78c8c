import AuthCore
import TestPrimitives
import Testing

@testable import AuthStorage

/// What the SQLite engine's tables guarantee.
@Suite struct SQLiteSchemaTests {
    private func withEvents(_ count: Int) async throws -> SQLiteStore {
        let store = try SQLiteStore.open(.memory, at: .epoch)
        for number in 0..<count { try await store.append(event(.loginFailed, "\(number)")) }
        return store
    }

    @Test(arguments: [
        "UPDATE audit SET subject = 'x'", "UPDATE audit SET sequence = sequence + 10",
        "UPDATE audit SET count = count + 2", "UPDATE audit SET count = 0",
        "UPDATE audit SET network = 'x'", "UPDATE audit SET minute = NULL",
        "DELETE FROM audit WHERE sequence = 2", "DELETE FROM audit WHERE sequence > 1",
    ])
    func eventsCannotBeChangedOrRemovedFromTheMiddle(script: String) async throws {
        let store = try await withEvents(3)
        // SQLITE_CONSTRAINT_TRIGGER
        await #expect(throws: StorageError.failed(statement: "forge", code: .sqlite(1811))) {
            try await store.write { try $0.run(Query("forge", script)) }
        }
        #expect(try await store.subjects == ["0", "1", "2"])
    }

    @Test func aDamagedEventIsAnErrorAndNotAnAbsence() async throws {
        let store = try await withEvents(1)
        try await store.write { database in
            try database.execute(
                script: "INSERT INTO audit VALUES (9, 'weird', 1, '', '', '', '', 1, '', NULL)",
                name: "damage")
        }
        await #expect(throws: StorageError.unreadable(column: "kind")) {
            try await store.latestEvents(limit: 9)
        }
    }

    @Test(arguments: [
        ("user", "email", "'none' || id"), ("user", "state", "'weird'"),
        ("domain", "name", "'a b'"),
        ("domain", "verification", "'weird'"), ("domain", "id", "'none'"),
        ("api_token", "id", "'none'"), ("account", "owner", "'none'"),
    ])
    func aDamagedRowIsAnErrorAndNotAnAbsence(
        table: String, column: String, value: String
    ) async throws {
        let store = try SQLiteStore.open(.memory, at: .epoch)
        #expect(try await store.insert(user(1)))
        #expect(try await store.insert(domain(1)) == .inserted)
        #expect(try await store.insert(token(1)))
        #expect(try await store.insert(account(1, owner: userID(1))))
        // A user with this id, so that the row can name it as its owner.
        let nobody = """
            INSERT INTO user (id, email, state, credential_version, created)
            SELECT 'none', 'x', state, 1, 1 FROM user
            """
        try await store.write { database in
            try database.execute(
                script: "\(nobody); UPDATE \(table) SET \(column) = \(value)",
                name: "damage")
        }
        await #expect(throws: StorageError.unreadable(column: column)) {
            switch table {
            case "user": _ = try await store.user(id: userID(1))
            case "domain": _ = try await store.domains(of: userID(1))
            case "api_token": _ = try await store.token(digest: digest(1))
            default: _ = try await store.account(id: accountID(1))
            }
        }
    }

    @Test func aFailedWriteInABatchLeavesNeitherChangeNorEvent() async throws {
        let store = try SQLiteStore.open(.memory, at: .epoch)
        #expect(try await store.insert(user(1)))
        let before = try await store.subjects
        let gate = Gate()
        let held = Task {
            try await store.write { _ in gate.hold() }
        }
        await gate.await()
        // All of these wait once they are added, and are committed as one batch; every other one
        // has no owner.
        let inserted = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<10 {
                group.addImmediateTask {
                    do {
                        let one = try account(number, owner: userID(1 + number % 2))
                        _ = try await store.insert(
                            one, limit: 100, recording: event(.accountCreated, "\(number)"))
                        return 1
                    } catch StorageError.unknownOwner {
                        return 0
                    }
                }
            }
            #expect(store.waitingWrites == 10)
            gate.release()
            return try await group.reduce(0, +)
        }
        try await held.value
        #expect(inserted == 5)
        let reported = try await store.subjects.dropFirst(before.count)
        #expect(Set(reported) == ["0", "2", "4", "6", "8"])
        #expect(reported.count == 5)
        let all = try await store.events(after: nil, limit: 100)
        #expect(all.map(\.sequence) == Array(1...Int64(all.count)))
    }

    @Test func anEventThatCannotBeWrittenUndoesItsChange() async throws {
        let store = try SQLiteStore.open(.memory, at: .epoch)
        try await store.write { database in
            try database.execute(
                script: """
                    CREATE TRIGGER refuse BEFORE INSERT ON audit WHEN NEW.subject = 'refused'
                    BEGIN SELECT RAISE(ABORT, 'refused'); END;
                    """,
                name: "refuse")
        }
        let refused = event(.accountCreated, "refused")
        await #expect(throws: StorageError.failed(statement: "recordEvent", code: .sqlite(1811))) {
            try await store.insert(account(1), limit: nil, recording: refused)
        }
        #expect(try await store.account(id: accountID(1)) == nil)
        #expect(try await store.insert(account(1)))
        await #expect(throws: StorageError.failed(statement: "recordEvent", code: .sqlite(1811))) {
            try await store.delete(accountID(1), at: nil, recording: refused)
        }
        #expect(try await store.account(id: accountID(1)) == account(1))
    }
}

/// A database of the first release.
@Suite struct SQLiteUpgradeTests {
    @Test func accountsOfTheFirstMigrationSurviveTheSecond() async throws {
        let directory = try TemporaryDirectory()
        let location = SQLiteLocation.file(directory.database)
        let first = SQLiteMigrator(
            location, settings: SQLiteSettings(), known: Array(Migration.sqlite.prefix(1)))
        #expect(try first.migrate(at: .epoch).count == 1)
        let old = try SQLiteConnection(path: directory.database, busyTimeout: .zero)
        for number in 1...3 {
            let one = try account(number)
            try old.run(
                Query("old", "INSERT INTO account VALUES (?1, ?2, 'active', ?3, 4, ?4)"),
                .text(one.id.text), .text(one.address.description), .blob(digest(number).bytes),
                .integer(one.created.milliseconds))
        }
        try old.execute(
            script: """
                INSERT INTO retired_address VALUES ('gone@mail.test');
                INSERT INTO spent_challenge VALUES ('spent', 5);
                INSERT INTO signing_key VALUES ('k', 'agent', x'01', 1, NULL);
                """,
            name: "old")

        let store = try directory.open()
        for number in 1...3 {
            let before = try account(number)
            let expected = Account(
                id: before.id, address: before.address, credential: before.credential,
                credentialVersion: 4, quota: 41_943_040, created: before.created)
            #expect(try await store.account(id: before.id) == expected)
            #expect(try await store.account(address: before.address) == expected)
            #expect(try await store.account(apiKey: digest(number)) == expected)
        }
        #expect(try await store.accounts(after: nil, limit: 9).count == 3)
        #expect(try await !store.insert(account(4, "gone@mail.test")))
        #expect(try await !store.insert(account(4, "user1@mail.test")))
        #expect(try await !store.spend("spent", expiry: .epoch))
        #expect(try await store.keys().map(\.id) == ["k"])
        #expect(try await store.events(after: nil, limit: 9).isEmpty)
        #expect(try await store.free(address("gone@mail.test")))
        let freed = try await store.accountEvents(after: 0, limit: 9)
        #expect(freed.map(\.address.description) == ["gone@mail.test"])
        // The domain of old accounts is known, too.
        #expect(try await store.insert(domain(1, "mail.test", of: nil)) == .inserted)
        #expect(try await store.removeDomain(domainID(1), of: nil) == .inUse)
    }

    @Test func domainsAndEventsOfTheThirdMigrationSurviveTheFourth() async throws {
        let directory = try TemporaryDirectory()
        let third = SQLiteMigrator(
            .file(directory.database), settings: SQLiteSettings(),
            known: Array(Migration.sqlite.prefix(3)))
        #expect(try third.migrate(at: .epoch).count == 3)
        let old = try SQLiteConnection(path: directory.database, busyTimeout: .zero)
        let users = (1...2).map { "('\(userID($0))', 'user\($0)@x.test', 'active', 'h', 1, 1)" }
        let rows = [
            (1, "proved.test", "'\(userID(1))'", "'verified'"),
            (2, "vouched.test", "'\(userID(2))'", "'verified'"),
            (3, "claimed.test", "'\(userID(2))'", "'pending'"),
            (4, "mine.test", "NULL", "'verified'"),
        ].map { "('\(domainID($0))', '\($1)', \($2), 0, \($3), 't', 1, 0, 1)" }
        try old.execute(
            script: """
                INSERT INTO user VALUES \(users.joined(separator: ","));
                INSERT INTO domain VALUES \(rows.joined(separator: ","));
                INSERT INTO audit VALUES
                    (1, 'domain_verified', 1, 'user:\(userID(1))', 'proved.test', '192.0.2.1', 'r'),
                    (2, 'login_failed', 1, 'anonymous', 'a', '192.0.2.1', 'r'),
                    (3, 'login_failed', 1, 'anonymous', 'a', '192.0.2.1', 'r');
                INSERT INTO retired_address VALUES ('gone@mail.test');
                INSERT INTO hash_login VALUES ('a@x.test', 'https://x.test/', 3, 1);
                """,
            name: "old")

        let store = try directory.open()
        #expect(
            try await store.domains(after: nil, limit: 9).map(\.domain.name.text)
                == ["claimed.test", "mine.test", "proved.test", "vouched.test"])
        // Only a domain that was looked up before is looked up again.
        #expect(
            try await store.domainsToCheck(at: .epoch, limit: 9).map(\.name.text)
                == ["proved.test"])
        #expect(try await store.events(after: nil, limit: 9).map(\.count) == [1, 1, 1])
        #expect(try await store.domain(named: domainName("claimed.test")) == nil)
        #expect(try await store.insert(domain(5, "claimed.test", of: 1)) == .inserted)
        #expect(try await !store.insert(account(4, "gone@mail.test")))
        #expect(try await store.hashLogins(after: nil, limit: 9).map(\.credentialVersion) == [3])
    }

    @Test func usersOfTheSeventhMigrationKeepTheirPasswordsAndTokens() async throws {
        let directory = try TemporaryDirectory()
        let seventh = SQLiteMigrator(
            .file(directory.database), settings: SQLiteSettings(),
            known: Array(Migration.sqlite.prefix(7)))
        #expect(try seventh.migrate(at: .epoch).count == 7)
        let old = try SQLiteConnection(path: directory.database, busyTimeout: .zero)
        let users = try (1...3).map { number in
            let one = try user(number)
            return """
                ('\(one.id)', '\(one.email)', 'active', '\(hash("\(number)").encoded)', 1,
                 \(one.created.milliseconds))
                """
        }
        try old.execute(
            script: """
                INSERT INTO user VALUES \(users.joined(separator: ","));
                INSERT INTO api_token VALUES ('\(tokenID(1))', '\(userID(1))', 'token 1',
                    x'01\(String(repeating: "00", count: 31))', 1, NULL, NULL, NULL, 'accounts');
                """, name: "old")

        let store = try directory.open()
        for number in 1...3 { #expect(try await store.user(id: userID(number)) == user(number)) }
        #expect(try await store.holder(digest: digest(1))?.owner == user(1))
        #expect(try await store.sessions(of: userID(1), at: .epoch).isEmpty)
        #expect(try await store.insert(session(1)))
        #expect(try await store.replacePassword(of: userID(1), at: 1, with: hash("new")))
        let last = User(
            id: userID(4), email: try email("d@example.test"), password: nil, created: .epoch)
        #expect(try await store.insert(last))
        #expect(try await store.users(after: nil, limit: 9).count == 4)
    }
}
