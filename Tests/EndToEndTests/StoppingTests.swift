internal import Glibc
internal import Testing

@Outside
struct StoppingTests {
    @Test func requestsInFlightAreAnsweredBeforeTheEnd() throws {
        let place = try Place()
        let program = try Program.serve(in: place)
        let agent = Agent(program)
        let wires = try (0..<6).map { number in
            let solved = try agent.solve()
            let wire = try Wire(port: program.port)
            return (wire, Agent.opening(solved, "username", "flight-\(number)"))
        }
        for (wire, request) in wires { try wire.send(request) }
        // With the first answer the others are known to be on their way.
        #expect(try wires[0].0.answer().status == 201)
        program.signal(SIGTERM)
        for (wire, _) in wires.dropFirst() {
            #expect(try wire.answer().status == 201)
            #expect(try wire.ended())
        }
        #expect(try program.awaitEnd() == .exited(0))
    }

    @Test func aTerminalThatGoesAwayStopsItGracefully() throws {
        let place = try Place()
        let program = try Program.serve(in: place)
        program.signal(SIGHUP)
        #expect(try program.awaitEnd() == .exited(0))
        #expect(program.log.contains("SIGHUP"))
    }

    @Test func whileDrainingItIsHealthyAndNotReady() throws {
        let place = try Place()
        let program = try Program.serve(
            in: place, variables: ["POSTERN_SERVER_DRAIN_DELAY": "60s"])
        let agent = Agent(program)
        #expect(try agent.call("GET", "/readyz").status == 200)
        program.signal(SIGTERM)
        #expect(try draining(agent))
        let health = try agent.call("GET", "/healthz")
        #expect(health.status == 200)
        #expect(health["connection"] == "close")
    }

    /// Signals while it starts: each ends it, by default action or gracefully, and none is lost.
    @Test func aSignalAtAnyMomentOfItsStartEndsIt() throws {
        for moment in 0..<24 {
            let place = try Place()
            let program = try Program(
                ["serve", "--profile", "test", "--port", "0", "--data", place.file("data")],
                in: place)
            // Later by each turn: a start takes tens of milliseconds.
            let until = ContinuousClock.now + .milliseconds(moment * 4)
            while ContinuousClock.now < until { sched_yield() }
            let end = try program.stop()
            #expect(end == .exited(0) || end == .signalled(SIGTERM), "\(moment): \(end)")
        }
    }

    @Test func aSecondSignalEndsItAtOnce() throws {
        let place = try Place()
        let program = try Program.serve(
            in: place, variables: ["POSTERN_SERVER_DRAIN_DELAY": "300s"])
        program.signal(SIGTERM)
        // Two signals of one kind that both wait are one to the kernel.
        #expect(try draining(Agent(program)))
        program.signal(SIGTERM)
        #expect(try program.awaitEnd(seconds: 10) == .exited(128 + SIGTERM))
    }

    private func draining(_ agent: Agent) throws -> Bool {
        for _ in 0..<5000 where try agent.call("GET", "/readyz").status == 503 { return true }
        return false
    }
}
