/// A table of a SQLite database, and where its rows go in a PostgreSQL database.
struct CopiedTable {
    enum Kind {
        case uuid, text, integer, bool, instant, bytes
    }

    /// The name of the rows for operators.
    let name: String
    /// The columns in the SQLite database; the first one is the key.
    let columns: [(name: String, kind: Kind)]
    /// Counts the rows in the SQLite database.
    let sourceCount: Query
    /// The rows in the order of their keys, after a key, at most a number of them.
    let sourcePage: Query
    /// Like ``sourcePage``, for the rows in the PostgreSQL database.
    let targetPage: Query
    /// Inserts a row, unless it is there.
    let insert: Query

    /// - Parameters:
    ///   - source: the table in the SQLite database.
    ///   - target: the table in the PostgreSQL database.
    ///   - renamed: columns that have another name there, by their name here.
    ///   - condition: which rows of the target belong to the table.
    ///   - more: columns of the target that the source does not have, with their values.
    private init(
        _ name: String, from source: String, to target: String,
        _ columns: [(name: String, kind: Kind)], renamed: [String: String] = [:],
        where condition: String = "true", adding more: [(String, String)] = [],
        overriding: String = ""
    ) {
        self.name = name
        self.columns = columns
        let key = columns[0].name
        let here = columns.map(\.name).joined(separator: ", ")
        let there = columns.map { renamed[$0.name] ?? $0.name }
        let list = there.joined(separator: ", ")
        sourceCount = Query("count \(name)", "SELECT count(*) FROM \(source)")
        sourcePage = Query(
            "read \(name)",
            "SELECT \(here) FROM \(source) WHERE \(key) > ?1 ORDER BY \(key) LIMIT ?2")
        targetPage = Query(
            "verify \(name)",
            """
            SELECT \(list) FROM \(target) WHERE \(there[0]) > $1 AND \(condition)
            ORDER BY \(there[0]) LIMIT $2
            """)
        let places = columns.indices.map { "$\($0 + 1)" } + more.map(\.1)
        insert = Query(
            "copy \(name)",
            """
            INSERT INTO \(target) (\((there + more.map(\.0)).joined(separator: ", ")))
            \(overriding) VALUES (\(places.joined(separator: ", "))) ON CONFLICT DO NOTHING
            """)
    }

    /// All tables; a table comes after the tables that it refers to.
    static let all = [
        CopiedTable(
            "users", from: "user", to: "pro_user",
            [
                ("id", .uuid), ("email", .text), ("state", .text), ("password_hash", .text),
                ("credential_version", .integer), ("created", .instant),
                ("email_verified", .instant),
            ]),
        CopiedTable(
            "sessions", from: "user_session", to: "user_session",
            [
                ("id", .uuid), ("owner", .uuid), ("created", .instant), ("last_used", .instant),
                ("expiry", .instant), ("authenticated", .instant), ("method", .text),
                ("client", .text), ("agent", .text),
            ]),
        CopiedTable(
            "accounts", from: "account", to: "account",
            [
                ("id", .uuid), ("address", .text), ("state", .text), ("api_key_digest", .bytes),
                ("password_hash", .text), ("credential_version", .integer), ("owner", .uuid),
                ("quota", .integer), ("used", .integer), ("created", .instant),
            ], where: "state <> 'deleted'"),
        CopiedTable(
            "retired addresses", from: "retired_address", to: "account",
            [("address", .text), ("owner", .uuid), ("retired", .instant), ("account", .uuid)],
            renamed: ["retired": "deleted", "account": "id"], where: "state = 'deleted'",
            adding: [
                ("state", "'deleted'"), ("credential_version", "0"), ("quota", "0"),
                ("used", "0"), ("created", "coalesce($3::timestamptz, 'epoch')"),
            ]),
        CopiedTable(
            "spent challenges", from: "spent_challenge", to: "spent_challenge",
            [("id", .text), ("expiry", .instant)], adding: [("write_id", "gen_random_uuid()")]),
        CopiedTable(
            "signing keys", from: "signing_key", to: "signing_key",
            [
                ("id", .text), ("use", .text), ("sealed", .bytes), ("created", .instant),
                ("retired", .instant),
            ]),
        CopiedTable(
            "API tokens", from: "api_token", to: "api_token",
            [
                ("id", .uuid), ("owner", .uuid), ("name", .text), ("digest", .bytes),
                ("scopes", .text), ("created", .instant), ("expiry", .instant),
                ("last_used", .instant), ("revoked", .instant),
            ]),
        CopiedTable(
            "domains", from: "domain", to: "domain",
            [
                ("id", .uuid), ("name", .text), ("owner", .uuid), ("pro_only", .bool),
                ("verification", .text), ("verify_token", .text), ("verified", .instant),
                ("has_mx", .bool), ("created", .instant), ("next_check", .instant),
                ("missing_since", .instant),
            ]),
        CopiedTable(
            "hash logins", from: "hash_login", to: "hash_login",
            [
                ("email", .text), ("url", .text), ("credential_version", .integer),
                ("created", .instant), ("deleted", .bool),
            ]),
        CopiedTable(
            "events", from: "audit", to: "audit",
            [
                ("sequence", .integer), ("kind", .text), ("time", .instant), ("actor", .text),
                ("subject", .text), ("client", .text), ("request_id", .text), ("network", .text),
                ("minute", .integer), ("count", .integer),
            ], overriding: "OVERRIDING SYSTEM VALUE"),
        CopiedTable(
            "account events", from: "account_event", to: "account_event",
            [
                ("number", .integer), ("id", .uuid), ("kind", .text), ("time", .instant),
                ("account", .uuid), ("address", .text), ("quota", .integer),
                ("delivered", .instant), ("attempts", .integer), ("due", .instant),
            ]),
        CopiedTable(
            "passkeys", from: "passkey", to: "passkey",
            [
                ("id", .uuid), ("owner", .uuid), ("name", .text), ("credential", .bytes),
                ("public_key", .text), ("signature_count", .integer), ("is_synced", .bool),
                ("created", .instant), ("last_used", .instant),
            ]),
        CopiedTable(
            "one-time codes", from: "totp", to: "totp",
            [
                ("owner", .uuid), ("secret", .bytes), ("last_step", .integer),
                ("guesses_until", .instant), ("created", .instant),
            ]),
        CopiedTable(
            "recovery codes", from: "recovery_code", to: "recovery_code",
            [("digest", .bytes), ("owner", .uuid)]),
        CopiedTable(
            "identities", from: "identity", to: "identity",
            [
                ("id", .uuid), ("owner", .uuid), ("provider", .text), ("issuer", .text),
                ("subject", .text), ("email", .text), ("created", .instant),
                ("last_used", .instant),
            ]),
        CopiedTable(
            "email links", from: "email_link", to: "email_link",
            [("digest", .bytes), ("owner", .uuid), ("purpose", .text), ("expiry", .instant)]),
        CopiedTable(
            "webhooks", from: "webhook", to: "webhook",
            [
                ("id", .uuid), ("owner", .uuid), ("url", .text), ("events", .text),
                ("secret", .bytes), ("status", .text), ("failures", .integer),
                ("last_triggered", .instant), ("created", .instant), ("due", .instant),
                ("is_sending", .bool), ("is_slow", .bool),
            ]),
        CopiedTable(
            "webhook events", from: "webhook_event", to: "webhook_event",
            [
                ("number", .integer), ("id", .text), ("webhook", .uuid), ("kind", .text),
                ("body", .bytes), ("created", .instant), ("attempts", .integer),
                ("due", .instant),
            ], overriding: "OVERRIDING SYSTEM VALUE"),
        CopiedTable(
            "webhook attempts", from: "webhook_attempt", to: "webhook_attempt",
            [
                ("number", .integer), ("id", .uuid), ("webhook", .uuid), ("event", .text),
                ("kind", .text), ("status", .integer), ("error", .text), ("attempt", .integer),
                ("duration", .integer), ("time", .instant),
            ], overriding: "OVERRIDING SYSTEM VALUE"),
    ]

    /// The key before all keys.
    var start: PostgresValue {
        switch columns[0].kind {
        case .integer: .integer(.min)
        case .uuid: .uuid([UInt8](repeating: 0, count: 16))
        case .bytes: .bytes([])
        default: .text("")
        }
    }
}
