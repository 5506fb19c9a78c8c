internal import AuthCore

/// One SQL statement with the name by which errors and the statement cache know it.
struct Query: Sendable {
    /// Unique among all queries.
    let name: String
    let sql: String

    init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }
}

/// What a query's parameter can be.
enum SQLValue: Sendable {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    init(_ value: Int64?) {
        self = value.map(SQLValue.integer) ?? .null
    }

    init(_ text: String?) {
        self = text.map(SQLValue.text) ?? .null
    }

    init(_ instant: Instant?) {
        self.init(instant?.milliseconds)
    }

    static func id<Kind>(_ id: Identifier<Kind>) -> SQLValue {
        .text(id.text)
    }

    static func instant(_ instant: Instant) -> SQLValue {
        .integer(instant.milliseconds)
    }

    /// SQLite takes a negative limit for none at all.
    static func limit(_ limit: Int) -> SQLValue {
        .integer(Int64(max(0, limit)))
    }
}
