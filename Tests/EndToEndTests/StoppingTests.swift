internal import Glibc
internal import Testing

@ProgramQueue
struct StoppingTests {
    @Test func requestsInFlightAreAnsweredBeforeTheEnd() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(in: directory)
        let agent = Agent(program)
        let connections = try (0..<6).map { number in
            let solved = try agent.solve()
            let connection = try TestConnection(port: program.port)
            // A response shows that the server has accepted the connection.
            try connection.send(Agent.request("GET", "/healthz"))
            _ = try connection.response()
            return (connection, Agent.opening(solved, "username", "flight-\(number)"))
        }
        for (connection, request) in connections { try connection.send(request) }
        // After the first response the server has received the other requests, too.
        #expect(try connections[0].0.response().status == 201)
        program.signal(SIGTERM)
        for (connection, _) in connections.dropFirst() {
            #expect(try connection.response().status == 201)
            #expect(try connection.ended())
        }
        #expect(try program.awaitEnd() == .exited(0))
    }

    @Test func whileDrainingItIsHealthyAndNotReady() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(
            in: directory, variables: ["POSTERN_SERVER_DRAIN_DELAY": "60s"])
        let agent = Agent(program)
        #expect(try isAnswered(200, to: agent))
        program.signal(SIGTERM)
        #expect(try isAnswered(503, to: agent))
        let health = try agent.call("GET", "/healthz")
        #expect(health.status == 200)
        #expect(health["connection"] == "close")
    }

    /// A signal while it starts ends it by its default action or gracefully, and is never lost.
    @Test func aSignalAtAnyMomentOfItsStartEndsIt() throws {
        for moment in 0..<24 {
            let directory = try TestDirectory()
            let program = try Program(
                ["serve", "--profile", "test", "--port", "0", "--data", directory.file("data")],
                in: directory)
            // Later in each round; a start takes tens of milliseconds. Any moment is a valid one, so
            // a pause that is too long on a busy machine does no harm.
            poll(nil, 0, Int32(moment * 4))
            let end = try program.stop()
            #expect(end == .exited(0) || end == .signalled(SIGTERM), "\(moment): \(end)")
        }
    }

    @Test func aSecondSignalEndsItAtOnce() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(
            in: directory, variables: ["POSTERN_SERVER_DRAIN_DELAY": "300s"])
        program.signal(SIGTERM)
        // The kernel merges two pending signals of one kind.
        #expect(try isAnswered(503, to: Agent(program)))
        program.signal(SIGTERM)
        #expect(try program.awaitEnd() == .exited(128 + SIGTERM))
    }

    /// Asks `/readyz` until the response has this status.
    private func isAnswered(_ status: Int, to agent: Agent) throws -> Bool {
        for _ in 0..<5000 where try agent.call("GET", "/readyz").status == status { return true }
        return false
    }
}
