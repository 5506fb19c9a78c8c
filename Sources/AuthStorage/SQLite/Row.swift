internal import AuthCore
internal import CSQLite

/// The current row of a statement. Valid until the statement is stepped or reset.
///
/// SQLite would silently convert a value that is read as another type than its own.
struct Row: StoredRow {
    let statement: OpaquePointer

    func integer(_ index: Int32) throws -> Int64 {
        try check(SQLITE_INTEGER, index)
        return sqlite3_column_int64(statement, index)
    }

    func text(_ index: Int32) throws -> String {
        try check(SQLITE_TEXT, index)
        // The pointer before the size: reading the pointer may convert the value.
        guard let characters = sqlite3_column_text(statement, index) else {
            throw unreadable(index)
        }
        let size = Int(sqlite3_column_bytes(statement, index))
        let utf8 = UnsafeBufferPointer(start: characters, count: size)
        return String(decoding: utf8, as: UTF8.self)
    }

    func bool(_ index: Int32) throws -> Bool {
        switch try integer(index) {
        case 0: false
        case 1: true
        default: throw unreadable(index)
        }
    }

    func instant(_ index: Int32) throws -> Instant {
        Instant(milliseconds: try integer(index))
    }

    func id<Kind>(_ index: Int32) throws -> Identifier<Kind> {
        try parsed(index, Identifier<Kind>.init)
    }

    func blob(_ index: Int32) throws -> [UInt8] {
        try check(SQLITE_BLOB, index)
        let bytes = sqlite3_column_blob(statement, index)
        let size = Int(sqlite3_column_bytes(statement, index))
        return Array(UnsafeRawBufferPointer(start: bytes, count: size))
    }

    func unreadable(_ index: Int32) -> StorageError {
        let name = sqlite3_column_name(statement, index).map { String(cString: $0) }
        return .unreadable(column: name ?? "\(index)")
    }

    func isNull(_ index: Int32) -> Bool {
        sqlite3_column_type(statement, index) == SQLITE_NULL
    }

    private func check(_ type: Int32, _ index: Int32) throws {
        guard sqlite3_column_type(statement, index) == type else { throw unreadable(index) }
    }
}
