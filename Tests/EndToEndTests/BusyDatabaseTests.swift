internal import CSQLite
internal import Testing

@ProgramQueue
struct BusyDatabaseTests {
    @Test func aDatabaseThatAnotherProgramHoldsIsBusyAndNothingIsSpent() throws {
        let directory = try TestDirectory()
        let agent = Agent(try Program.serveData(in: directory))
        let solved = try agent.solve()
        var database: OpaquePointer?
        #expect(sqlite3_open(directory.file("data/postern.db"), &database) == SQLITE_OK)
        defer { sqlite3_close(database) }
        // The server still writes its keys.
        sqlite3_busy_timeout(database, 10_000)

        #expect(sqlite3_exec(database, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
        let busy = try agent.open(solved, "username", "patient")
        #expect(busy.status == 503)
        #expect(try #require(busy["retry-after"].flatMap { Int($0) }) >= 1)
        #expect(sqlite3_exec(database, "ROLLBACK", nil, nil, nil) == SQLITE_OK)

        #expect(try agent.open(solved, "username", "patient").status == 201)
    }
}
