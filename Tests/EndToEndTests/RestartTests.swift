internal import Testing

@ProgramQueue
struct RestartTests {
    @Test func anAgentSignsUpAndFindsItsMailStore() throws {
        let directory = try TestDirectory()
        let agent = Agent(try Program.serve(in: directory))
        let signup = try agent.signup("by-hand")
        #expect(signup.status == 201)
        #expect(try signup.member("inbox") == "by-hand@mail.test")

        let session = try Agent.token(in: signup)
        let granted = try agent.call("POST", "/api/v1/capability", bearer: session)
        #expect(granted.status == 200)
        let capability = try Agent.token(in: granted)

        let mailbox = try agent.call("GET", "/.well-known/jmap", bearer: capability)
        #expect(mailbox.status == 200)
        #expect(try mailbox.member("username") == "by-hand@mail.test")
        #expect(try mailbox.member("apiUrl").hasPrefix("http://127.0.0.1:\(agent.port)/"))
    }

    @Test func spentChallengesAndAccountsSurviveARestart() throws {
        let directory = try TestDirectory()
        let first = try Program.serveData(in: directory)
        let before = Agent(first)
        let spent = try before.solve()
        let signup = try before.open(spent, "username", "durable")
        let apiKey = try signup.member("apiKey")
        let unspent = try before.solve()
        #expect(try first.stop() == .exited(0))

        let after = Agent(try Program.serveData(in: directory))
        let replay = try after.open(spent, "apiKey", apiKey)
        #expect(replay.status == 401)
        #expect(try replay.member("error.message") == "Invalid or expired challenge")
        // This challenge is older than the restart, too, so the first one failed as spent.
        let login = try after.open(unspent, "apiKey", apiKey)
        #expect(login.status == 200)
        #expect(try login.member("accountId") == signup.member("accountId"))
        let session = try Agent.token(in: signup)
        #expect(try after.call("POST", "/api/v1/capability", bearer: session).status == 200)
    }

    @Test func everyAcknowledgedKeyLogsInAfterAPowerCut() throws {
        let directory = try TestDirectory()
        let first = try Program.serveData(in: directory)
        let before = Agent(first)
        let requests = try (0..<8).map { number in
            Agent.opening(try before.solve(), "username", "cut-\(number)")
        }
        // Opened when everything is solved: the server closes a connection that sends nothing.
        let connections = try requests.map { _ in try TestConnection(port: first.port) }
        for (connection, request) in zip(connections, requests) { try connection.send(request) }
        var keys = [try connections[0].response().member("apiKey")]
        try first.kill()
        for connection in connections.dropFirst() {
            // A connection without a response was not acknowledged.
            if let response = try? connection.response() {
                keys.append(try response.member("apiKey"))
            }
        }

        let after = Agent(try Program.serveData(in: directory))
        for key in keys { #expect(try after.login(key).status == 200) }
    }

    @Test func aChallengeUsedFiftyTimesIsAcceptedOnce() throws {
        let directory = try TestDirectory()
        let agent = Agent(try Program.serve(in: directory))
        let solved = try agent.solve()
        let connections = try (0..<50).map { _ in try TestConnection(port: agent.port) }
        for (number, connection) in connections.enumerated() {
            try connection.send(Agent.opening(solved, "username", "racer-\(number)"))
        }
        let statuses = try connections.map { try $0.response().status }
        #expect(statuses.filter { $0 == 201 }.count == 1)
        #expect(statuses.filter { $0 == 401 }.count == 49)
    }
}
