internal import Glibc
internal import Testing

@ProgramQueue
struct SharedDatabaseTests {
    /// Two servers that start at the same time on an empty directory. Both create the database, the
    /// master secret and the keys, and must use the same ones.
    private func pair(in directory: TestDirectory) throws -> (
        one: Agent, other: Agent, programs: [Program]
    ) {
        let arguments = [
            "serve", "--profile", "test", "--port", "0", "--data", directory.file("data"),
        ]
        let programs = try (0..<2).map { _ in
            try Program(arguments, in: directory, variables: Program.publicURL)
        }
        for program in programs { try program.awaitReady() }
        return (Agent(programs[0]), Agent(programs[1]), programs)
    }

    @Test func serversOnOneDatabaseShareTheirKeys() throws {
        let directory = try TestDirectory()
        let (one, other, programs) = try pair(in: directory)
        let published = "/.well-known/jwks.json"
        #expect(try one.call("GET", published).body == other.call("GET", published).body)

        // The challenge and the capability are from one server, the session is from the other.
        let signup = try other.open(one.solve(), "username", "shared")
        #expect(signup.status == 201)
        let granted = try one.call(
            "POST", "/api/v1/capability", bearer: Agent.token(in: signup))
        #expect(granted.status == 200)
        let mailbox = try other.call(
            "GET", "/.well-known/jmap", bearer: Agent.token(in: granted))
        #expect(mailbox.status == 200)
        for program in programs { #expect(try program.stop() == .exited(0)) }
    }

    @Test func whatOneServerDeletesIsGoneOnTheOther() throws {
        let directory = try TestDirectory()
        let (one, other, _) = try pair(in: directory)
        let solved = try one.solve()
        let signup = try one.open(solved, "username", "fleeting")
        let session = try Agent.token(in: signup)
        #expect(try other.open(solved, "username", "another").status == 401)
        #expect(try other.call("POST", "/api/v1/capability", bearer: session).status == 200)

        #expect(try one.call("DELETE", "/api/v1/account", bearer: session).status == 204)
        #expect(try other.call("POST", "/api/v1/capability", bearer: session).status == 401)
        #expect(try other.login(signup.member("apiKey")).status == 401)
        #expect(try other.signup("fleeting").status == 409)
    }

    /// The command is a third process on the database.
    @Test func aLeakedKeyIsRejectedEverywhere() throws {
        let directory = try TestDirectory()
        let (one, other, _) = try pair(in: directory)
        let session = try Agent.token(in: one.signup("leaked"))
        for server in [one, other] {
            let granted = try server.call("POST", "/api/v1/capability", bearer: session)
            #expect(granted.status == 200)
        }
        let rotation = try Program(
            [
                "key", "rotate", "--use", "agent", "--leaked", "--data", directory.file("data"),
            ], in: directory)
        #expect(try rotation.awaitEnd() == .exited(0))
        try awaitRejection(of: session, by: [one, other])
        #expect(try other.login(one.signup("later").member("apiKey")).status == 200)
    }

    /// Prints how long the servers take, two seconds at most on a machine that is not loaded.
    private func awaitRejection(of session: String, by servers: [Agent]) throws {
        let start = ContinuousClock.now
        for server in servers {
            while try server.call("POST", "/api/v1/capability", bearer: session).status == 200 {
                try #require(.now - start < .seconds(60))
            }
        }
        print("\(ContinuousClock.now - start) until the leaked key was rejected everywhere")
    }

    @Test func serversGoOnWhileTheMasterSecretIsReplaced() throws {
        let directory = try TestDirectory()
        let (one, other, programs) = try pair(in: directory)
        let session = try Agent.token(in: one.signup("sealed"))
        // Answered when the key has been created; both must have read it under the old secret.
        for server in [one, other] {
            for keys in ["jwks.json", "login-jwks.json"] {
                #expect(try server.call("GET", "/.well-known/\(keys)").status == 200)
            }
            #expect(
                try server.call("POST", "/api/v1/capability", bearer: session).status == 200)
        }
        let secret = directory.file("new.secret")
        try directory.write(String(repeating: "0f", count: 32), to: "new.secret")
        let data = directory.file("data")
        for (mode, isAccepted) in [(0o644, false), (0o600, true)] as [(mode_t, Bool)] {
            #expect(chmod(secret, mode) == 0)
            let reseal = try Program(
                ["key", "reseal", "--new-secret-file", secret, "--data", data], in: directory)
            #expect(try (reseal.awaitEnd() == .exited(0)) == isAccepted)
        }
        for server in [one, other] {
            #expect(
                try server.call("POST", "/api/v1/capability", bearer: session).status == 200)
        }
        // The old secret is still in place: a start fails, and so does a rotation.
        let early = try Program(
            ["key", "rotate", "--use", "agent", "--data", data], in: directory)
        #expect(try early.awaitEnd() != .exited(0))
        #expect(rename(secret, "\(data)/master.secret") == 0)
        let rotate = try Program(
            ["key", "rotate", "--use", "agent", "--leaked", "--data", data], in: directory)
        #expect(try rotate.awaitEnd() == .exited(0))
        try awaitRejection(of: session, by: [one, other])
        for program in programs { #expect(try program.stop() == .exited(0)) }
        let restarted = Agent(try Program.serveData(in: directory))
        #expect(try restarted.signup("later").status == 201)
    }
}
