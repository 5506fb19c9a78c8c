internal import AuthCore

/// A row that an engine has read. Columns are numbered from 0.
///
/// A value of another type than the requested one throws ``StorageError/unreadable(column:)``; it
/// is not converted.
protocol StoredRow {
    func isNull(_ column: Int32) -> Bool
    func integer(_ column: Int32) throws -> Int64
    func bool(_ column: Int32) throws -> Bool
    func text(_ column: Int32) throws -> String
    func blob(_ column: Int32) throws -> [UInt8]
    func instant(_ column: Int32) throws -> Instant
    func id<Kind>(_ column: Int32) throws -> Identifier<Kind>
    /// The error for a value of the right type that cannot be parsed.
    func unreadable(_ column: Int32) -> StorageError
}

extension StoredRow {
    func optionalText(_ column: Int32) throws -> String? {
        isNull(column) ? nil : try text(column)
    }

    func optionalInstant(_ column: Int32) throws -> Instant? {
        isNull(column) ? nil : try instant(column)
    }

    func optionalID<Kind>(_ column: Int32) throws -> Identifier<Kind>? {
        isNull(column) ? nil : try id(column)
    }

    /// The text, parsed. Throws when `parse` returns `nil`.
    func parsed<T>(_ column: Int32, _ parse: (String) -> T?) throws -> T {
        guard let value = parse(try text(column)) else { throw unreadable(column) }
        return value
    }

    func optionallyParsed<T>(_ column: Int32, _ parse: (String) -> T?) throws -> T? {
        isNull(column) ? nil : try parsed(column, parse)
    }

    /// SHA-256 of an API key or token.
    func digest(_ column: Int32) throws -> APIKeyDigest {
        let bytes = try blob(column)
        guard bytes.count == 32 else { throw unreadable(column) }
        return APIKeyDigest(bytes: bytes)
    }
}
