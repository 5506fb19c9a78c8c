internal import CSQLite
internal import Glibc
internal import Testing

/// A database with a damaged page.
@ProgramQueue
struct DamagedDatabaseTests {
    /// Overwrites the first page of the table of accounts, as a failing disk might.
    private func damageAccounts(of path: String) throws {
        var database: OpaquePointer?
        var statement: OpaquePointer?
        let query = """
            SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'account'
            """
        guard sqlite3_open(path, &database) == SQLITE_OK,
            sqlite3_prepare_v2(database, query, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW
        else { throw TestError("cannot find the page") }
        let (page, size) = (sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1))
        sqlite3_finalize(statement)
        sqlite3_close(database)
        let file = open(path, O_WRONLY)
        defer { close(file) }
        let garbage = [UInt8](repeating: 0xee, count: Int(size))
        guard pwrite(file, garbage, garbage.count, Int((page - 1) * size)) == garbage.count else {
            throw TestError("cannot damage the page")
        }
    }

    @Test func theServerIsNotReadyAndCommandsSayWhatToDo() throws {
        let directory = try TestDirectory()
        let first = try Program.serveData(in: directory)
        _ = try Agent(first).signup("before")
        #expect(try first.stop() == .exited(0))
        try damageAccounts(of: directory.file("data/postern.db"))

        let second = try Program.serveData(in: directory)
        #expect(try Agent(second).call("GET", "/healthz").status == 200)
        #expect(try Agent(second).call("GET", "/readyz").status == 503)
        #expect(try second.stop() == .exited(0))
        for command in [["account", "list"], ["backup", directory.file("copy")]] {
            let program = try Program(
                command + ["--data", directory.file("data")], in: directory)
            #expect(try program.awaitEnd() == .exited(78), "\(command)")
            #expect(program.log.contains("restore a backup"), "\(command)")
        }
    }
}
