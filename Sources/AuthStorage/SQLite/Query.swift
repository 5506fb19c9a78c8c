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
}
