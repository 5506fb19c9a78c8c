/// One SQL statement. Errors and the cache of prepared statements know it by its name.
struct Query: Sendable {
    /// Unique among all queries.
    let name: String
    let sql: String

    init(_ name: String, _ sql: String) {
        self.name = name
        self.sql = sql
    }
}
