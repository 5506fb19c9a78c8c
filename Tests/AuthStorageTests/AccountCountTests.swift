import AuthCore
import Testing

@testable import AuthStorage

/// The number of a user's accounts, whoever changes them.
@Suite struct AccountCountTests {
    private func counts(_ store: PostgresStore) async throws -> [Int] {
        var counts: [Int] = []
        for number in 1...3 {
            counts.append(try await store.holdings(of: userID(number)).accounts)
            #expect(
                try await store.accounts(of: userID(number), after: nil, limit: .max).count
                    == counts[number - 1])
        }
        return counts
    }

    private static let insert = """
        INSERT INTO account (id, address, state, password_hash, owner, deleted, credential_version,
                             quota, used, created)
        SELECT md5('a' || n)::uuid, 'a' || n || '@mail.test',
               CASE n % 5 WHEN 0 THEN 'deleted' WHEN 1 THEN 'disabled' ELSE 'active' END,
               CASE n % 5 WHEN 0 THEN NULL ELSE '' END,
               CASE n % 2 WHEN 1 THEN NULL WHEN 0 THEN
                   CASE n % 4 WHEN 0 THEN '\(userID(1))'::uuid ELSE '\(userID(2))'::uuid END END,
               CASE n % 5 WHEN 0 THEN now() END, 1, 0, 0, now()
        FROM generate_series(1, 100) AS n
        """

    @Test func theCountIsRightWhoeverChangesAccounts() async throws {
        let url = try TestServer.shared.makeDatabase()
        let store = try await PostgresStore.open(url, settings: TestServer.settings, at: .epoch)
        for number in 1...3 { #expect(try await store.insert(user(number))) }
        let other = try TestServer.shared.connect(to: url)
        var expected = [20, 20, 0]
        for (script, change) in [
            (Self.insert, [0, 0, 0]), (Self.insert + " ON CONFLICT DO NOTHING", [0, 0, 0]),
            ("UPDATE account SET state = 'active' WHERE state = 'disabled'", [0, 0, 0]),
            (
                """
                UPDATE account SET state = 'deleted', password_hash = NULL
                WHERE address IN ('a4@mail.test', 'a6@mail.test', 'a7@mail.test')
                """, [-1, -1, 0]
            ),
            (
                """
                UPDATE account SET state = 'active', password_hash = ''
                WHERE address IN ('a4@mail.test', 'a10@mail.test')
                """, [1, 1, 0]
            ),
            (
                "UPDATE account SET owner = '\(userID(3))' WHERE address = 'a8@mail.test'",
                [-1, 0, 1]
            ),
            ("UPDATE account SET owner = NULL WHERE address = 'a14@mail.test'", [0, -1, 0]),
            (
                """
                UPDATE account SET owner = '\(userID(3))', state = 'deleted', password_hash = NULL
                WHERE address = 'a18@mail.test'
                """, [0, -1, 0]
            ),
            (
                "DELETE FROM account WHERE address IN ('a12@mail.test', 'a20@mail.test')",
                [-1, 0, 0]
            ),
            ("DELETE FROM account WHERE owner IS NULL", [0, 0, 0]),
            ("BEGIN; DELETE FROM account; ROLLBACK", [0, 0, 0]),
        ] {
            try other.execute(script: script, name: "change")
            expected = zip(expected, change).map { $0 + $1 }
            #expect(try await counts(store) == expected, "\(script)")
        }
        try other.execute(script: "DELETE FROM account", name: "delete")
        #expect(try await counts(store) == [0, 0, 0])
    }

    @Test func theMigrationCountsTheAccountsThatAreThere() async throws {
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        _ = try PostgresMigrator(
            url, settings: TestServer.settings, known: Array(Migration.postgres.prefix(2))
        ).migrate(at: .epoch)
        let users = (1...3).map { number in
            "('\(userID(number))', 'u\(number)@mail.test', 'active', '', 1, now())"
        }
        try TestServer.shared.connect(to: url).execute(
            script: "INSERT INTO pro_user VALUES \(users.joined(separator: ", ")); \(Self.insert)",
            name: "old")
        let store = try await PostgresStore.open(url, settings: TestServer.settings, at: .epoch)
        #expect(try await counts(store) == [20, 20, 0])
    }
}
