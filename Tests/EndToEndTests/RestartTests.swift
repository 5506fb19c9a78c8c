internal import Testing

@Outside
struct RestartTests {
    @Test func anAgentSignsUpAndReachesItsMailboxByHand() throws {
        let place = try Place()
        let agent = Agent(try Program.serve(in: place))
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

    @Test func whatWasSpentAndWhatWasMadeOutliveTheProgram() throws {
        let place = try Place()
        let first = try Program.serveData(in: place)
        let before = Agent(first)
        let spent = try before.solve()
        let signup = try before.open(spent, "username", "durable")
        let apiKey = try signup.member("apiKey")
        let unspent = try before.solve()
        #expect(try first.stop() == .exited(0))

        let after = Agent(try Program.serveData(in: place))
        let replay = try after.open(spent, "apiKey", apiKey)
        #expect(replay.status == 401)
        #expect(try replay.member("error.message") == "Invalid or expired challenge")
        // Of before as well, but not used: so it is the spend that was remembered.
        let login = try after.open(unspent, "apiKey", apiKey)
        #expect(login.status == 200)
        #expect(try login.member("accountId") == signup.member("accountId"))
        let session = try Agent.token(in: signup)
        #expect(try after.call("POST", "/api/v1/capability", bearer: session).status == 200)
    }

    @Test func everyAcknowledgedKeyLogsInAfterAPowerCut() throws {
        let place = try Place()
        let first = try Program.serveData(in: place)
        let before = Agent(first)
        let wires = try (0..<8).map { number in
            let wire = try Wire(port: first.port)
            return (wire, Agent.opening(try before.solve(), "username", "cut-\(number)"))
        }
        for (wire, request) in wires { try wire.send(request) }
        var keys = [try wires[0].0.answer().member("apiKey")]
        try first.kill()
        for (wire, _) in wires.dropFirst() {
            // Cut off before its answer: then nothing was acknowledged.
            if let answer = try? wire.answer() { keys.append(try answer.member("apiKey")) }
        }

        let after = Agent(try Program.serveData(in: place))
        for key in keys { #expect(try after.login(key).status == 200) }
    }

    @Test func ofFiftyUsesOfOneChallengeOneGetsPastTheSpend() throws {
        let place = try Place()
        let agent = Agent(try Program.serve(in: place))
        let solved = try agent.solve()
        let wires = try (0..<50).map { _ in try Wire(port: agent.port) }
        for (number, wire) in wires.enumerated() {
            try wire.send(Agent.opening(solved, "username", "racer-\(number)"))
        }
        let statuses = try wires.map { try $0.answer().status }
        #expect(statuses.filter { $0 == 201 }.count == 1)
        #expect(statuses.filter { $0 == 401 }.count == 49)
    }
}
