internal import AuthCore

/// Asks a PostgreSQL server for its schema, version and clock.
struct PostgresInspector: Sendable {
    let url: PostgresURL
    var settings = PostgresSettings()

    func inspect() throws -> DatabaseInspection {
        let status = try PostgresMigrator(url, settings: settings).status()
        do {
            let handle = try PostgresHandle(url, settings: settings)
            let server = try handle.run([PostgresStatement(SQL.server)])[0].first { row in
                DatabaseInspection.Server(
                    version: try row.text(0), clock: try row.instant(1))
            }
            return DatabaseInspection(
                applied: status.applied.count, pending: status.pending.count, problems: [],
                server: server)
        } catch PostgresFailure.lost(_, let cause) {
            throw StorageError.unconnected(name: url.shown, cause: cause)
        } catch PostgresFailure.rejected(let failure) {
            throw failure.storeError
        }
    }
}

private enum SQL {
    static let server = Query(
        "server", "SELECT current_setting('server_version'), clock_timestamp()")
}
