internal import CSQLite
internal import Testing

/// A server that cannot serve as it was told to says why, and serves nothing.
@Outside
struct RefusedStartTests {
    private func refused(
        _ arguments: [String], in place: Place, variables: [String: String] = [:]
    ) throws -> (end: Program.End, log: String) {
        let program = try Program(["serve"] + arguments, in: place, variables: variables)
        let end = try program.awaitEnd()
        #expect(program.standardOutput == "")
        return (end, program.log)
    }

    @Test func aPortInUseIsNamed() throws {
        let place = try Place()
        let first = try Program.serve(in: place)
        let second = try Place()
        let (end, log) = try refused(
            ["--profile", "test", "--port", String(first.port)], in: second)
        #expect(end == .exited(69))
        #expect(log.contains("binding 127.0.0.1:\(first.port) failed: Address already in use"))
        #expect(try Agent(first).call("GET", "/healthz").status == 200)
    }

    @Test(arguments: ["0", "8080"])
    func anAddressOfAnotherMachineIsNamed(port: String) throws {
        let place = try Place()
        // RFC 5737: nobody's.
        let (end, log) = try refused(
            ["--profile", "test", "--host", "192.0.2.1", "--port", port], in: place)
        #expect(end == .exited(69))
        #expect(log.contains("192.0.2.1"))
    }

    @Test func allFaultsOfTheConfigurationAreNamedAtOnce() throws {
        let place = try Place()
        try place.write("[mail]\ndomain = [\"a.test\"]\n[server]\nbacklog = \"many\"\n", to: "c")
        let (end, log) = try refused(
            ["--config", place.file("c"), "--port", "70000"], in: place,
            variables: [
                "POSTERN_POW_AGENT_DIFFICULTY": "six", "POSTERN_SERVER_POTR": "80",
            ])
        #expect(end == .exited(78))
        let named = [
            "mail.domain", "server.backlog", "--port", "POSTERN_POW_AGENT_DIFFICULTY",
            "POSTERN_SERVER_POTR",
        ]
        for name in named { #expect(log.contains(name)) }
    }

    @Test func productionNeedsAPublicURL() throws {
        let place = try Place()
        let (end, log) = try refused(
            ["--profile", "production", "--data", place.file("data")], in: place)
        #expect(end == .exited(78))
        #expect(log.contains("server.public_url"))
    }

    @Test func anotherMasterSecretIsRefusedBeforeTheFirstRequest() throws {
        let place = try Place()
        let first = try Program.serveData(in: place)
        // A key of each kind is stored once it has signed.
        let session = try Agent.token(in: try Agent(first).signup("sealed"))
        let granted = try Agent(first).call("POST", "/api/v1/capability", bearer: session)
        #expect(granted.status == 200)
        #expect(try first.stop() == .exited(0))

        try place.write(String(repeating: "5a", count: 32), to: "other")
        let (end, log) = try refused(
            ["--profile", "test", "--port", "0", "--data", place.file("data")], in: place,
            variables: ["POSTERN_MASTER_SECRET_FILE": place.file("other")])
        #expect(end == .exited(78))
        #expect(log.contains("master secret"))
    }

    @Test func aDatabaseOfANewerProgramIsRefused() throws {
        let place = try Place()
        #expect(try Program.serveData(in: place).stop() == .exited(0))
        var database: OpaquePointer?
        #expect(sqlite3_open(place.file("data/postern.db"), &database) == SQLITE_OK)
        let later = """
            INSERT INTO schema_migration (number, name, checksum, applied_at)
            SELECT max(number) + 1, 'later', 'unknown', 0 FROM schema_migration
            """
        #expect(sqlite3_exec(database, later, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(database)

        let (end, log) = try refused(
            ["--profile", "test", "--port", "0", "--data", place.file("data")], in: place)
        #expect(end == .exited(78))
        #expect(log.contains("newer Postern"))
    }
}
