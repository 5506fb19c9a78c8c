import Synchronization
import Testing

@testable import AuthStorage

extension Trait where Self == IndexesAreUsed {
    /// For every suite that opens stores with ``Engine``.
    static var indexesAreUsed: Self { IndexesAreUsed() }
}

/// Fails a test that made a PostgreSQL store send a statement which reads a whole large table.
///
/// What the stores of a test have prepared is explained after the test, on a database with many
/// rows. A statement is thus checked as soon as any test of the suite sends it.
struct IndexesAreUsed: SuiteTrait, TestTrait, TestScoping {
    @TaskLocal static var current: Opened?

    /// The stores that a test has opened.
    final class Opened: Sendable {
        private let stores = Mutex<[PostgresStore]>([])

        func add(_ store: PostgresStore) {
            stores.withLock { $0.append(store) }
        }

        fileprivate func statements() async throws -> [Prepared] {
            var found: [Prepared] = []
            for store in stores.withLock({ $0 }) {
                found += try await store.all(SQL.prepared) { row in
                    Prepared(
                        name: try row.text(0), sql: try row.text(1), types: try row.text(2),
                        parameters: Int(try row.integer(3)))
                }
            }
            return found
        }
    }

    /// Tables that have few rows however many accounts there are.
    private static let small = ["signing_key", "postern_migration", "account_feed"]

    /// Statements of an operator's command that must read a whole table.
    private static let allowed = ["reseal", "secrets"]

    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let opened = Opened()
        try await Self.$current.withValue(opened) { try await function() }
        for statement in try await opened.statements()
        where !Self.allowed.contains(statement.name) {
            guard let plan = try await Planner.shared.plan(of: statement) else { continue }
            let whole = Self.wholeReads(of: plan)
            #expect(whole == [], "\(statement.name): \(plan.joined(separator: "\n"))")
        }
    }
}

extension IndexesAreUsed {
    /// The lines of a plan that read a whole table or a whole index. The first entries of an index,
    /// in its order and with nothing to leave out, may be read.
    fileprivate static func wholeReads(of plan: [String]) -> [String] {
        plan.indices.filter { index in
            let line = plan[index]
            let isRead = line.contains("Seq Scan on ") || line.contains("Index")
            guard isRead, line.contains(" Scan "), line.contains("(cost="),
                !small.contains(where: { line.contains(" on \($0)") })
            else { return false }
            // What a node has is listed below it, before its children.
            let details = plan[(index + 1)...].prefix { !$0.contains("(cost=") }
            if details.contains(where: { $0.contains("Index Cond:") }) { return false }
            return line.contains("Seq Scan") || details.contains { $0.contains("Filter:") }
                || index == 0 || !plan[index - 1].contains("Limit ")
        }.map { plan[$0] }
    }
}

/// A prepared statement of a session.
private struct Prepared {
    let name: String
    let sql: String
    /// The types of the parameters, with commas between them.
    let types: String
    let parameters: Int
}

/// A database with many rows, which explains statements.
private actor Planner {
    static let shared = Planner()
    private var handle: PostgresHandle?
    private var explained: Set<String> = []

    /// - Returns: the lines of the plan; `nil` for a statement that was explained before.
    func plan(of statement: Prepared) throws -> [String]? {
        guard explained.insert(statement.name).inserted else { return nil }
        let handle = try opened()
        let types = statement.parameters == 0 ? "" : "(\(statement.types))"
        try handle.execute(
            script: "PREPARE \"\(statement.name)\" \(types) AS \(statement.sql)",
            name: statement.name)
        let nulls = Array(repeating: "NULL", count: statement.parameters).joined(separator: ", ")
        let explain = Query(
            "explain \(statement.name)",
            "EXPLAIN EXECUTE \"\(statement.name)\"" + (nulls.isEmpty ? "" : "(\(nulls))"))
        return try handle.run([PostgresStatement(explain)])[0].all { try $0.text(0) }
    }

    private func opened() throws -> PostgresHandle {
        if let handle { return handle }
        let opened = try TestServer.shared.connect(to: try TestServer.shared.makeDatabase())
        try opened.execute(script: SQL.fill, name: "fill")
        // The plan for any values. A table is read whole only where no index can be used.
        try opened.execute(
            script: "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off",
            name: "plan")
        handle = opened
        return opened
    }
}

private enum SQL {
    static let prepared = Query(
        "prepared",
        """
        SELECT name, statement, array_to_string(parameter_types::text[], ','),
               cardinality(parameter_types)::bigint
        FROM pg_prepared_statements
        -- Only a test suite empties tables, and that has no plan.
        WHERE NOT from_sql AND name <> 'prepared' AND statement NOT LIKE 'TRUNCATE %'
        """)

    static let fill = """
        INSERT INTO pro_user
        SELECT md5('u' || n)::uuid, 'u' || n || '@example.test', 'active', '', 1, now()
        FROM generate_series(1, 2000) AS n;
        INSERT INTO account (id, address, state, api_key_digest, password_hash, owner, deleted,
                             credential_version, quota, used, created)
        SELECT md5('a' || n)::uuid, 'a' || n || '@mail' || n % 9 || '.test',
               CASE n % 3 WHEN 0 THEN 'deleted' ELSE 'active' END,
               CASE n % 3 WHEN 1 THEN sha256(n::text::bytea) END,
               CASE n % 3 WHEN 2 THEN 'hash' END,
               CASE n % 3 WHEN 1 THEN NULL ELSE md5('u' || n % 2000 + 1)::uuid END,
               CASE n % 3 WHEN 0 THEN now() END, 1, 0, 0, now()
        FROM generate_series(1, 10000) AS n;
        INSERT INTO spent_challenge
        SELECT md5('c' || n), now() + n * interval '1 ms', md5('c' || n)::uuid
        FROM generate_series(1, 10000) AS n;
        INSERT INTO api_token (id, owner, name, digest, scopes, created, revoked)
        SELECT md5('t' || n)::uuid, md5('u' || n % 2000 + 1)::uuid, 'name',
               sha256(n::text::bytea), 'accounts', now(), CASE n % 2 WHEN 0 THEN now() END
        FROM generate_series(1, 10000) AS n;
        INSERT INTO user_session
        SELECT md5('s' || n)::uuid, md5('u' || n % 2000 + 1)::uuid, now(), now(),
               now() + n * interval '1 ms', now(), 'password', 'client', 'agent'
        FROM generate_series(1, 10000) AS n;
        INSERT INTO passkey
        SELECT md5('p' || n)::uuid, md5('u' || n % 2000 + 1)::uuid, 'name',
               sha256(n::text::bytea), 'key', 0, false, now(), NULL
        FROM generate_series(1, 10000) AS n;
        INSERT INTO identity
        SELECT md5('p' || n)::uuid, md5('u' || n % 2000 + 1)::uuid, 'name',
               'issuer ' || n / 2000, 'subject ' || n, NULL, now(), NULL
        FROM generate_series(1, 10000) AS n;
        INSERT INTO totp
        SELECT md5('u' || n)::uuid, '', 1, now(), now() FROM generate_series(1, 2000) AS n;
        INSERT INTO recovery_code
        SELECT sha256(n::text::bytea), md5('u' || n % 2000 + 1)::uuid
        FROM generate_series(1, 10000) AS n;
        INSERT INTO email_link
        SELECT sha256(n::text::bytea), md5('u' || n % 2000 + 1)::uuid,
               CASE n % 2 WHEN 0 THEN 'password_reset' ELSE 'email_verification' END,
               now() + n * interval '1 ms'
        FROM generate_series(1, 10000) AS n;
        INSERT INTO domain (id, name, owner, pro_only, verification, verify_token, has_mx, created,
                            next_check)
        SELECT md5('d' || n)::uuid, 'd' || n || '.test', md5('u' || n % 2000 + 1)::uuid, false,
               CASE n % 2 WHEN 0 THEN 'verified' ELSE 'pending' END, 'token', false, now(),
               CASE n % 2 WHEN 0 THEN now() END
        FROM generate_series(1, 10000) AS n;
        INSERT INTO hash_login
        SELECT 'u' || n || '@example.test', 'https://example.test', 1, now()
        FROM generate_series(1, 10000) AS n;
        INSERT INTO audit (kind, time, actor, subject, client, request_id, network, minute,
                           write_id)
        SELECT 'login_succeeded', now(), 'operator', 's' || n, 'c', 'r', 'n' || n,
               CASE n % 2 WHEN 0 THEN n END, md5('w' || n)::uuid
        FROM generate_series(1, 10000) AS n;
        INSERT INTO account_event (number, id, kind, time, account, address, delivered, due)
        SELECT CASE n % 10 WHEN 0 THEN NULL ELSE n END, md5('e' || n)::uuid, 'account_created',
               now(), md5('a' || n % 5000)::uuid, 'a' || n % 5000 || '@mail.test',
               CASE n % 3 WHEN 0 THEN now() END,
               CASE n % 3 WHEN 1 THEN now() ELSE 'epoch' END
        FROM generate_series(1, 10000) AS n;
        INSERT INTO webhook (id, owner, url, events, secret, status, failures, created, due, is_slow)
        SELECT md5('h' || n)::uuid, md5('u' || n)::uuid, 'https://example.test',
               'email.received', '', 'active', 0, now(), CASE n % 3 WHEN 0 THEN now() END,
               n % 2 = 0
        FROM generate_series(1, 2000) AS n;
        INSERT INTO webhook_event (id, webhook, kind, body, created, due)
        SELECT 'evt_' || n, md5('h' || n % 2000 + 1)::uuid, 'email.received', '', now(), now()
        FROM generate_series(1, 10000) AS n;
        INSERT INTO webhook_attempt (id, webhook, event, kind, attempt, duration, time)
        SELECT md5('x' || n)::uuid, md5('h' || n % 2000 + 1)::uuid, 'evt_' || n,
               'email.received', 1, 1, now()
        FROM generate_series(1, 10000) AS n;
        ANALYZE
        """
}
