internal import AuthCore
internal import Cryptography

/// Copies a SQLite database into a PostgreSQL database, and verifies the copy.
///
/// Guarantees: The copy shows the state of one moment. Rows that were copied before an interruption
/// are not copied again. No server starts on the target before the copy is complete and verified. A
/// target with other data is not changed.
struct DatabaseCopy {
    private let source: SQLiteLocation
    private let target: PostgresURL
    private let settings: PostgresSettings
    private static let page = 500

    init(
        from source: SQLiteLocation, to target: PostgresURL,
        settings: PostgresSettings = .patient
    ) {
        self.source = source
        self.target = target
        self.settings = settings
    }

    /// Blocks until that is done.
    /// - Parameters:
    ///   - now: recorded with each migration that is applied to the target.
    ///   - onProgress: called for every page; an error that it throws ends the copy, which can be
    ///     run again.
    /// - Returns: the tables and how many rows each has, in order.
    func run(
        at now: Instant, onProgress: (CopyProgress) throws -> Void
    ) throws -> [CopiedRows] {
        guard source.exists else { throw CopyError.noSource(path: source.path) }
        guard try SQLiteMigrator(source).status().pending.isEmpty else {
            throw CopyError.oldSource(path: source.path)
        }
        let reader = try SQLiteConnection.readable(source, settings: SQLiteSettings())
        // One read transaction: the tables are copied as they were at one moment.
        try reader.execute(script: "BEGIN", name: "begin")
        let lastEvent = try reader.first(SQL.lastAccountEvent) { try $0.integer(0) } ?? 0
        let counts = try CopiedTable.all.map { table in
            try reader.first(table.sourceCount) { Int(try $0.integer(0)) } ?? 0
        }
        do {
            let handle = try beginCopy(at: now)
            // Each row is read twice: to be copied, and to be compared.
            var progress = CopyProgress(rows: 0, total: 2 * counts.reduce(0, +), isComparing: false)
            for table in CopiedTable.all {
                try forEachPage(of: table, in: reader) { rows in
                    _ = try handle.run(rows.map { PostgresStatement(table.insert, $0) })
                    progress.rows += rows.count
                    try onProgress(progress)
                }
            }
            progress.isComparing = true
            for table in CopiedTable.all {
                try compare(table, reader, handle) { count in
                    progress.rows += count
                    try onProgress(progress)
                }
            }
            try handle.execute(script: Self.endScript(lastEvent), name: "endCopy")
        } catch PostgresFailure.lost(_, let cause) {
            throw StorageError.unconnected(name: target.shown, cause: cause)
        } catch PostgresFailure.rejected(let failure) {
            throw failure.storeError
        }
        return zip(CopiedTable.all, counts).map { CopiedRows(table: $0.name, count: $1) }
    }

    /// Migrates the target and marks it as incomplete.
    private func beginCopy(at now: Instant) throws -> PostgresHandle {
        _ = try PostgresMigrator(target, settings: settings, isCopying: true).migrate(at: now)
        let handle = try PostgresHandle(target, settings: settings)
        let isResumed = try handle.run([PostgresStatement(SQL.isIncomplete)])[0]
            .first { try $0.bool(0) }
        if isResumed != true {
            let isFilled = try handle.run([PostgresStatement(SQL.isFilled)])[0]
                .first { try $0.bool(0) }
            guard isFilled == false else { throw CopyError.filledTarget(name: target.shown) }
            try handle.execute(script: "CREATE TABLE postern_copy ()", name: "beginCopy")
        }
        return handle
    }

    private func forEachPage(
        of table: CopiedTable, in reader: SQLiteConnection,
        _ body: ([[PostgresValue]]) throws -> Void
    ) throws {
        // Before all texts and bytes.
        var last: SQLValue = .integer(.min)
        while true {
            var end: SQLValue?
            let rows = try reader.all(table.sourcePage, last, .limit(Self.page)) { row in
                end =
                    switch table.columns[0].kind {
                    case .integer: .integer(try row.integer(0))
                    case .bytes: .blob(try row.blob(0))
                    default: .text(try row.text(0))
                    }
                return try table.columns.indices.map {
                    try row.value(Int32($0), table.columns[$0].kind)
                }
            }
            if !rows.isEmpty { try body(rows) }
            guard let end, rows.count == Self.page else { return }
            last = end
        }
    }

    /// Compares the numbers and the SHA-256 digests of the rows on both sides.
    private func compare(
        _ table: CopiedTable, _ reader: SQLiteConnection, _ handle: PostgresHandle,
        onPage: (Int) throws -> Void
    ) throws {
        var sourceSum = RowSum()
        var targetSum = RowSum()
        try forEachPage(of: table, in: reader) { rows in
            sourceSum.add(rows)
            try onPage(rows.count)
        }
        var last = table.start
        while true {
            let page = PostgresStatement(table.targetPage, last, .limit(Self.page))
            let rows = try handle.run([page])[0].all { row in
                try table.columns.indices.map {
                    try row.value(Int32($0), table.columns[$0].kind)
                }
            }
            targetSum.add(rows)
            guard let end = rows.last, rows.count == Self.page else { break }
            last = end[0]
        }
        guard sourceSum == targetSum else {
            throw CopyError.different(
                table: table.name, source: sourceSum.count, target: targetSum.count)
        }
    }

    /// The next row of a table with numbers gets the number after the last copied one.
    /// - Parameter lastEvent: the number of the last account event, which may have been removed.
    private static func endScript(_ lastEvent: Int64) -> String {
        let numbers = [
            ("audit", "sequence"), ("webhook_event", "number"), ("webhook_attempt", "number"),
        ].map { table, column in
            """
            SELECT setval(
                pg_get_serial_sequence('\(table)', '\(column)'),
                greatest((SELECT max(\(column)) FROM \(table)), 1),
                EXISTS (SELECT 1 FROM \(table)));
            """
        }.joined(separator: "\n")
        return """
            BEGIN;
            \(numbers)
            UPDATE account_feed SET last_number = \(lastEvent);
            DROP TABLE postern_copy;
            COMMIT
            """
    }
}

/// The number and the digest of rows, in their order.
private struct RowSum: Equatable {
    private(set) var count = 0
    private var digest: [UInt8] = []

    mutating func add(_ rows: [[PostgresValue]]) {
        count += rows.count
        for row in rows {
            for value in row {
                var bytes: [UInt8] = []
                value.append(to: &bytes)
                // The length before the value, so that no two rows have the same bytes.
                digest += Array("\(value.isNull ? -1 : bytes.count):".utf8) + bytes
            }
            digest = SHA256.digest(digest)
        }
    }
}

extension StoredRow {
    fileprivate func value(_ column: Int32, _ kind: CopiedTable.Kind) throws -> PostgresValue {
        if isNull(column) { return .null }
        return switch kind {
        case .uuid: .id(try id(column) as AccountID)
        case .text: .text(try text(column))
        case .integer: .integer(try integer(column))
        case .bool: .bool(try bool(column))
        case .instant: .instant(try instant(column))
        case .bytes: .bytes(try blob(column))
        }
    }
}

/// How far a copy is.
public struct CopyProgress: Equatable, Sendable {
    /// Rows that were copied or compared.
    public internal(set) var rows: Int
    /// Twice the number of rows: each is copied and compared.
    public let total: Int
    public internal(set) var isComparing: Bool
}

/// The rows of a table that were copied.
public struct CopiedRows: Equatable, Sendable {
    public let table: String
    public let count: Int
}

/// Why a database was not copied.
public enum CopyError: Error, Equatable, Sendable, CustomStringConvertible {
    case wrongEngines
    case noSource(path: String)
    /// Migrations are pending, and the source is not changed.
    case oldSource(path: String)
    case filledTarget(name: String)
    case different(table: String, source: Int, target: Int)

    public var description: String {
        switch self {
        case .wrongEngines: "a copy is from \"sqlite:<path>\" to \"postgresql://<host>/<database>\""
        case .noSource(let path): "there is no database \(path)"
        case .oldSource(let path):
            "\(path) has pending migrations; run `postern migrate` on it first"
        case .filledTarget(let name):
            "\(name) holds data that is not from a copy that was interrupted; nothing was changed"
        case .different(let table, let source, let target):
            "the copy is not the same: \(table) has \(source) rows here and \(target) there, or"
                + " different ones; drop the target's tables and copy again"
        }
    }
}

extension PostgresSettings {
    /// No client waits for a copy, and its transactions have hundreds of rows.
    static let patient: PostgresSettings = {
        var settings = PostgresSettings()
        settings.statementTimeout = .seconds(300)
        return settings
    }()
}

private enum SQL {
    /// In the SQLite database.
    static let lastAccountEvent = Query(
        "lastAccountEvent", "SELECT seq FROM sqlite_sequence WHERE name = 'account_event'")

    static let isIncomplete = Query(
        "isIncomplete", "SELECT to_regclass('postern_copy') IS NOT NULL")

    static let isFilled = Query(
        "isFilled",
        """
        SELECT EXISTS (SELECT 1 FROM pro_user) OR EXISTS (SELECT 1 FROM account)
            OR EXISTS (SELECT 1 FROM signing_key) OR EXISTS (SELECT 1 FROM domain)
            OR EXISTS (SELECT 1 FROM hash_login) OR EXISTS (SELECT 1 FROM audit)
            OR EXISTS (SELECT 1 FROM spent_challenge) OR EXISTS (SELECT 1 FROM account_event)
        """)
}
