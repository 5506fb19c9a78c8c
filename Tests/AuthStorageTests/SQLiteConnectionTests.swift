import AuthCore
import Testing

@testable import AuthStorage

@Suite struct SQLiteConnectionTests {
    private let database: SQLiteConnection

    init() throws {
        database = try SQLiteConnection(path: ":memory:", busyTimeout: .zero)
        try database.execute(
            script: "CREATE TABLE t (i INTEGER UNIQUE, x TEXT, b BLOB) STRICT", name: "make")
    }

    private let insert = Query("insert", "INSERT INTO t VALUES (?1, ?2, ?3)")
    private let select = Query("select", "SELECT i, x, b FROM t")

    @Test(arguments: [
        (Int64.min, "", [UInt8]()), (Int64.max, "\u{e9}\0 after a NUL", [0, 255]), (0, "x", [1]),
    ])
    func valuesAreStoredAndRead(number: Int64, text: String, bytes: [UInt8]) throws {
        try database.run(insert, .integer(number), .text(text), .blob(bytes))
        let row = try database.first(select) { row in
            (try row.integer(0), try row.text(1), try row.blob(2))
        }
        let found = try #require(row)
        #expect(found == (number, text, bytes))
    }

    @Test func aValueOfAnotherTypeIsUnreadable() throws {
        try database.run(insert, .integer(1), .null, .null)
        #expect(throws: StorageError.unreadable(column: "x")) {
            try database.first(select) { try $0.text(1) }
        }
        #expect(throws: StorageError.unreadable(column: "b")) {
            try database.first(select) { try $0.blob(2) }
        }
        #expect(throws: StorageError.unreadable(column: "i")) {
            try database.first(select) { try $0.text(0) }
        }
        #expect(try database.first(select) { try $0.integer(0) } == 1)
    }

    @Test func anErrorNamesTheStatementAndTheExtendedCode() throws {
        try database.run(insert, .integer(1), .null, .null)
        // SQLITE_CONSTRAINT_UNIQUE
        let error = StorageError.failed(statement: "insert", code: .sqlite(2067))
        #expect(throws: error) { try database.run(insert, .integer(1), .text("secret"), .null) }
        #expect(!error.description.contains("secret"))
    }

    @Test func aStatementThatFailedCanBeRunAgain() throws {
        try database.run(insert, .integer(1), .null, .null)
        #expect(throws: StorageError.self) {
            try database.run(insert, .integer(1), .null, .null)
        }
        #expect(try database.run(insert, .integer(2), .null, .null) == 1)
    }

    @Test func parametersOfOneRunAreClearedBeforeTheNext() throws {
        try database.run(insert, .integer(1), .text("old"), .null)
        try database.run(insert, .integer(2))
        let texts = try database.all(Query("nulls", "SELECT i FROM t WHERE x IS NULL")) {
            try $0.integer(0)
        }
        #expect(texts == [2])
    }

    @Test func aTransactionThatThrowsIsRolledBack() throws {
        #expect(throws: StoreBusy.self) {
            try database.transaction {
                try database.run(insert, .integer(1), .null, .null)
                throw StoreBusy()
            }
        }
        #expect(!database.isInTransaction)
        #expect(try database.first(select) { try $0.integer(0) } == nil)
    }

    @Test func sqlCannotDamageTheFile() throws {
        try database.execute(script: "PRAGMA writable_schema = ON", name: "open")
        #expect(throws: StorageError.self) {
            try database.execute(script: "DELETE FROM sqlite_schema", name: "damage")
        }
    }

    @Test(arguments: [
        (Duration.zero, Int64(0)), (.milliseconds(1500), 1500), (.seconds(-1), 0),
        (.seconds(Int64.max), Int64(Int32.max)),
    ])
    func anyBusyTimeoutIsAccepted(busyTimeout: Duration, expected: Int64) throws {
        let database = try SQLiteConnection(path: ":memory:", busyTimeout: busyTimeout)
        let query = Query("timeout", "PRAGMA busy_timeout")
        #expect(try database.first(query) { try $0.integer(0) } == expected)
    }
}
