internal import AuthCore
internal import CSQLite

/// The current row of a statement. Valid until the statement is stepped or reset.
///
/// Reading a value as another type than its own throws ``StorageError/unreadable(column:)``: SQLite
/// would convert it silently.
struct Row {
    let statement: OpaquePointer

    func integer(_ index: Int32) throws -> Int64 {
        try check(SQLITE_INTEGER, index)
        return sqlite3_column_int64(statement, index)
    }

    func optionalInteger(_ index: Int32) throws -> Int64? {
        isNull(index) ? nil : try integer(index)
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

    func optionalText(_ index: Int32) throws -> String? {
        isNull(index) ? nil : try text(index)
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

    func optionalInstant(_ index: Int32) throws -> Instant? {
        try optionalInteger(index).map(Instant.init(milliseconds:))
    }

    /// The text, parsed. Throws when `parse` returns `nil`.
    func parsed<T>(_ index: Int32, _ parse: (String) -> T?) throws -> T {
        guard let value = parse(try text(index)) else { throw unreadable(index) }
        return value
    }

    func optionallyParsed<T>(_ index: Int32, _ parse: (String) -> T?) throws -> T? {
        isNull(index) ? nil : try parsed(index, parse)
    }

    func blob(_ index: Int32) throws -> [UInt8] {
        try check(SQLITE_BLOB, index)
        let bytes = sqlite3_column_blob(statement, index)
        let size = Int(sqlite3_column_bytes(statement, index))
        return Array(UnsafeRawBufferPointer(start: bytes, count: size))
    }

    func optionalBlob(_ index: Int32) throws -> [UInt8]? {
        isNull(index) ? nil : try blob(index)
    }

    /// SHA-256 of an API key or token.
    func digest(_ index: Int32) throws -> APIKeyDigest {
        let bytes = try blob(index)
        guard bytes.count == 32 else { throw unreadable(index) }
        return APIKeyDigest(bytes: bytes)
    }

    /// The error for a value of the right type that cannot be parsed.
    func unreadable(_ index: Int32) -> StorageError {
        let name = sqlite3_column_name(statement, index).map { String(cString: $0) }
        return .unreadable(column: name ?? "\(index)")
    }

    private func isNull(_ index: Int32) -> Bool {
        sqlite3_column_type(statement, index) == SQLITE_NULL
    }

    private func check(_ type: Int32, _ index: Int32) throws {
        guard sqlite3_column_type(statement, index) == type else { throw unreadable(index) }
    }
}
