internal import CSQLite
internal import Glibc
internal import Testing

/// A server that cannot start with its configuration prints the reason and serves nothing.
@ProgramQueue
struct StartErrorTests {
    private func startError(
        _ arguments: [String], in directory: TestDirectory, variables: [String: String] = [:]
    ) throws -> (end: Program.End, log: String) {
        let program = try Program(["serve"] + arguments, in: directory, variables: variables)
        let end = try program.awaitEnd()
        #expect(program.standardOutput == "")
        return (end, program.log)
    }

    @Test func aPortInUseIsNamed() throws {
        let directory = try TestDirectory()
        let first = try Program.serve(in: directory)
        let second = try TestDirectory()
        let data = second.file("data")
        let (end, log) = try startError(
            ["--profile", "test", "--port", String(first.port), "--data", data], in: second)
        #expect(end == .exited(69))
        #expect(log.contains("binding 127.0.0.1:\(first.port) failed: Address already in use"))
        #expect(try Agent(first).call("GET", "/healthz").status == 200)
        // A first start that fails leaves nothing behind.
        #expect(access(data, F_OK) != 0)
    }

    @Test(arguments: [
        ["POSTERN_SERVICES_LISTEN": "unix:/proc/none/s"],
        ["POSTERN_SERVICES_LISTEN": "192.0.2.1:81"],
        [
            "POSTERN_SERVICES_LISTEN": "127.0.0.1:0",
            "POSTERN_SERVICES_SECRET_FILE": "/proc/none/secret",
        ],
    ])
    func aServicesListenerThatCannotBeMadeLeavesNothingBehind(variables: [String: String]) throws {
        let directory = try TestDirectory()
        var variables = variables
        try directory.write("0123456789abcdef", to: "secret")
        if variables.count == 1 {
            variables["POSTERN_SERVICES_SECRET_FILE"] = directory.file("secret")
        }
        let (end, _) = try startError(
            ["--profile", "test", "--port", "0", "--data", directory.file("data")],
            in: directory, variables: variables)
        #expect(end == .exited(69) || end == .exited(78))
        #expect(access(directory.file("data"), F_OK) != 0)
    }

    /// The directory of the socket is made with the database.
    @Test func aServicesSocketMayBeInTheNewStorageDirectory() throws {
        let directory = try TestDirectory()
        let socket = directory.file("data/services.sock")
        let program = try Program.serve(
            ["--data", directory.file("data")], in: directory,
            variables: ["POSTERN_SERVICES_LISTEN": "unix:\(socket)"])
        #expect(access(socket, F_OK) == 0)
        #expect(try program.stop() == .exited(0))
        #expect(access(socket, F_OK) != 0)
    }

    @Test(arguments: ["0", "8080"])
    func anAddressOfAnotherMachineIsNamed(port: String) throws {
        let directory = try TestDirectory()
        // Reserved for documentation (RFC 5737).
        let (end, log) = try startError(
            ["--profile", "test", "--host", "192.0.2.1", "--port", port], in: directory,
            variables: ["POSTERN_TESTING_EXPOSED": "true"])
        #expect(end == .exited(69))
        #expect(log.contains("192.0.2.1"))
    }

    @Test func allFaultsOfTheConfigurationAreReportedAtOnce() throws {
        let directory = try TestDirectory()
        try directory.write(
            "[mail]\ndomain = [\"a.test\"]\n[server]\nbacklog = \"many\"\n", to: "c")
        let (end, log) = try startError(
            ["--config", directory.file("c"), "--port", "70000"], in: directory,
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

    /// The server must not use another database than the one that was named.
    @Test(arguments: ["mysql://localhost/postern", "sqlit:x", ""])
    func aStorageURLThatCannotBeReadStopsTheStart(url: String) throws {
        let directory = try TestDirectory()
        let (end, log) = try startError(
            ["--port", "0", "--data", directory.file("data")], in: directory,
            variables: ["POSTERN_STORAGE_URL": url])
        #expect(end == .exited(78))
        #expect(log.contains("storage.url") && log.contains("sqlite:<path>"))
        #expect(throws: TestError.self) {
            try TestDirectory.read(directory.file("data/postern.db"))
        }
    }

    @Test func productionNeedsAPublicURL() throws {
        let directory = try TestDirectory()
        let (end, log) = try startError(
            ["--profile", "production", "--data", directory.file("data")], in: directory)
        #expect(end == .exited(78))
        #expect(log.contains("server.public_url"))
    }

    @Test func anotherMasterSecretStopsTheStart() throws {
        let directory = try TestDirectory()
        let first = try Program.serveData(in: directory)
        // A signing key is stored before its first use.
        let session = try Agent.token(in: try Agent(first).signup("sealed"))
        let granted = try Agent(first).call("POST", "/api/v1/capability", bearer: session)
        #expect(granted.status == 200)
        #expect(try first.stop() == .exited(0))

        try directory.write(String(repeating: "5a", count: 32), to: "other")
        let (end, log) = try startError(
            ["--profile", "test", "--port", "0", "--data", directory.file("data")], in: directory,
            variables: ["POSTERN_MASTER_SECRET_FILE": directory.file("other")])
        #expect(end == .exited(78))
        #expect(log.contains("master secret"))
    }

    /// A new secret could not open the keys, and would be taken for the right one.
    @Test func noMasterSecretIsMadeForADatabaseThatHasKeys() throws {
        let directory = try TestDirectory()
        let first = try Program.serveData(in: directory)
        _ = try Agent(first).signup("sealed")
        #expect(try first.stop() == .exited(0))
        let secret = directory.file("data/master.secret")
        #expect(unlink(secret) == 0)
        for command in [["serve", "--port", "0"], ["key", "rotate", "--use", "agent"]] {
            let program = try Program(
                command + ["--data", directory.file("data")], in: directory)
            #expect(try program.awaitEnd() == .exited(78))
            #expect(program.log.contains("\(secret) is missing"))
            #expect(access(secret, F_OK) != 0)
        }
    }

    @Test func anEmptiedDatabaseIsNotTakenForANewOne() throws {
        let directory = try TestDirectory()
        #expect(try Program.serveData(in: directory).stop() == .exited(0))
        let database = directory.file("data/postern.db")
        #expect(truncate(database, 0) == 0)
        let commands = [["serve", "--port", "0"], ["key", "list"], ["migrate"]]
        for command in commands {
            let program = try Program(
                command + ["--data", directory.file("data")], in: directory)
            #expect(try program.awaitEnd() == .exited(78))
            #expect(program.log.contains("\(database) has 0 bytes"))
            #expect(try TestDirectory.read(database) == "")
        }
    }

    @Test func aDatabaseOfANewerProgramStopsTheStart() throws {
        let directory = try TestDirectory()
        #expect(try Program.serveData(in: directory).stop() == .exited(0))
        var database: OpaquePointer?
        #expect(sqlite3_open(directory.file("data/postern.db"), &database) == SQLITE_OK)
        let later = """
            INSERT INTO schema_migration (number, name, checksum, applied_at)
            SELECT max(number) + 1, 'later', 'unknown', 0 FROM schema_migration
            """
        #expect(sqlite3_exec(database, later, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(database)

        let (end, log) = try startError(
            ["--profile", "test", "--port", "0", "--data", directory.file("data")], in: directory)
        #expect(end == .exited(78))
        #expect(log.contains("newer Postern"))
    }
}
