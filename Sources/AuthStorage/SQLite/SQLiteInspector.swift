internal import AuthCore

/// Checks a SQLite database for damage, on a connection that cannot write. The database may be in
/// use.
struct SQLiteInspector: Sendable {
    let location: SQLiteLocation
    var settings = SQLiteSettings()

    func inspect() throws -> DatabaseInspection {
        let status = try SQLiteMigrator(location, settings: settings).status()
        let connection = try SQLiteConnection(
            path: location.path, busyTimeout: settings.busyTimeout)
        try connection.execute(
            script: """
                PRAGMA query_only = ON;
                PRAGMA trusted_schema = OFF;
                PRAGMA cell_size_check = ON;
                """,
            name: "configureInspector")
        var problems = try connection.all(SQL.integrityCheck) { try $0.text(0) }
            .filter { $0 != "ok" }
        if problems.isEmpty {
            problems = try connection.all(SQL.foreignKeyCheck) { row in
                "a row of \(try row.text(0)) has an owner that does not exist"
            }
        }
        return DatabaseInspection(
            applied: status.applied.count, pending: status.pending.count,
            problems: Array(problems.prefix(DatabaseInspection.problemLimit)), server: nil)
    }
}

private enum SQL {
    static let integrityCheck = Query(
        "integrityCheck", "PRAGMA integrity_check(\(DatabaseInspection.problemLimit))")
    static let foreignKeyCheck = Query(
        "foreignKeyCheck",
        "SELECT \"table\" FROM pragma_foreign_key_check LIMIT \(DatabaseInspection.problemLimit)")
}
