internal import AuthCore

/// A parameter of a query.
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

    /// A negative limit becomes 0: to SQLite it would mean no limit.
    static func limit(_ limit: Int) -> SQLValue {
        .integer(Int64(max(0, limit)))
    }
}
