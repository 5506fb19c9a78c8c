internal import Testing

@Outside
struct SharedDatabaseTests {
    /// Two servers that begin on an empty directory at once: both make the database, the master
    /// secret and the keys, and must come to the same ones.
    private func pair(in place: Place) throws -> (one: Agent, other: Agent, programs: [Program]) {
        let arguments = [
            "serve", "--profile", "test", "--port", "0", "--data", place.file("data"),
        ]
        let programs = try (0..<2).map { _ in
            try Program(arguments, in: place, variables: Program.publicURL)
        }
        for program in programs { try program.awaitReady() }
        return (Agent(programs[0]), Agent(programs[1]), programs)
    }

    @Test func serversOnOneDatabaseShareTheirKeys() throws {
        let place = try Place()
        let (one, other, programs) = try pair(in: place)
        let published = "/.well-known/jwks.json"
        #expect(try one.call("GET", published).body == other.call("GET", published).body)

        // The challenge of one, the session of the other, the capability of the first.
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

    @Test func whatOneServerTakesAwayIsGoneOnTheOther() throws {
        let place = try Place()
        let (one, other, _) = try pair(in: place)
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
}
