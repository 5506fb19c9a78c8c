internal import AuthCore
internal import CPostgres
internal import Cryptography

/// The rows that one statement returned.
final class PostgresResult {
    fileprivate let pointer: OpaquePointer

    /// - Parameter pointer: a `PGresult`, which this object frees.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        postern_PQclear(pointer)
    }

    /// How many rows the statement inserted, changed or deleted.
    var changes: Int { Int(String(cString: postern_PQcmdTuples(pointer))) ?? 0 }

    var isEmpty: Bool { postern_PQntuples(pointer) == 0 }

    /// - Parameter statement: the one that has failed.
    func failure(of statement: String) -> SQLFailure { SQLFailure(pointer, statement: statement) }

    func first<T>(_ read: (PostgresRow) throws -> T) throws -> T? {
        isEmpty ? nil : try read(PostgresRow(result: self, index: 0))
    }

    func all<T>(_ read: (PostgresRow) throws -> T) throws -> [T] {
        try (0..<postern_PQntuples(pointer)).map { try read(PostgresRow(result: self, index: $0)) }
    }
}

/// A row of a result, in binary format.
struct PostgresRow: StoredRow {
    let result: PostgresResult
    let index: Int32

    func integer(_ column: Int32) throws -> Int64 {
        try bytes(column, type: 20) { Int64(bitPattern: Self.number($0)) }
    }

    func bool(_ column: Int32) throws -> Bool {
        try bytes(column, type: 16) { $0.first != 0 }
    }

    func text(_ column: Int32) throws -> String {
        try bytes(column, type: 25) { String(decoding: $0, as: UTF8.self) }
    }

    func blob(_ column: Int32) throws -> [UInt8] {
        try bytes(column, type: 17) { Array($0) }
    }

    func instant(_ column: Int32) throws -> Instant {
        try bytes(column, type: 1184) {
            PostgresTime.instant(microseconds: Int64(bitPattern: Self.number($0)))
        }
    }

    func id<Kind>(_ column: Int32) throws -> Identifier<Kind> {
        guard let id = Identifier<Kind>(try uuid(column)) else { throw unreadable(column) }
        return id
    }

    /// In the 8-4-4-4-12 form.
    func uuid(_ column: Int32) throws -> String {
        let digits = Array(
            try bytes(column, type: 2950) { Hex.encode(Array($0)) }.utf8)
        var out: [UInt8] = []
        out.reserveCapacity(36)
        for (position, digit) in digits.enumerated() {
            if [8, 12, 16, 20].contains(position) { out.append(UInt8(ascii: "-")) }
            out.append(digit)
        }
        return String(decoding: out, as: UTF8.self)
    }

    func isNull(_ column: Int32) -> Bool {
        postern_PQgetisnull(result.pointer, index, column) != 0
    }

    func unreadable(_ column: Int32) -> StorageError {
        let name = postern_PQfname(result.pointer, column).map { String(cString: $0) }
        return .unreadable(column: name ?? "\(column)")
    }

    /// - Parameter type: the object id of the type that the column must have.
    private func bytes<T>(
        _ column: Int32, type: UInt32, _ read: (UnsafeRawBufferPointer) -> T
    ) throws -> T {
        guard postern_PQftype(result.pointer, column) == type, !isNull(column),
            let start = postern_PQgetvalue(result.pointer, index, column)
        else { throw unreadable(column) }
        let count = Int(postern_PQgetlength(result.pointer, index, column))
        return read(UnsafeRawBufferPointer(start: start, count: count))
    }

    private static func number(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
