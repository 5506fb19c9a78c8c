internal import TestPrimitives
internal import Testing

@ProgramQueue
struct HostileRequestTests {
    @Test func aBodyOverTheLimitIsAnswered413BeforeItIsSent() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(in: directory)
        for path in ["/api/v1/session", "/api/v1/challenge", "/api/v1/capability"] {
            let connection = try TestConnection(port: program.port)
            try connection.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n")
            let response = try connection.response()
            #expect(response.status == 413)
            #expect(response["connection"] == "close")
            #expect(try response.member("error.hint") != "")
        }
    }

    /// The requests of a signup with changed, removed, repeated and missing bytes.
    @Test func noBrokenRequestIsAnswered500() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(in: directory)
        let agent = Agent(program)
        let session = try Agent.token(in: try agent.signup("mutant"))
        let sound = [
            Agent.opening(try agent.solve(), "username", "mutated"),
            Agent.request("POST", "/api/v1/challenge", body: Array("{}".utf8)),
            Agent.request("POST", "/api/v1/capability", bearer: session),
            Agent.request("GET", "/.well-known/jmap", bearer: session),
            Agent.request("GET", "/llms.txt?x=%20#y"),
            Array(
                """
                POST /api/v1/session HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\
                2;x=y\r\n{}\r\n0\r\nTrailer: x\r\n\r\n
                """.utf8),
        ]
        var random = SeededGenerator(seed: 2)
        for round in 0..<600 {
            var request = sound[round % sound.count]
            for _ in 0...(round % 4) { mutate(&request, &random) }
            let connection = try TestConnection(port: program.port)
            // The server may respond and close the connection before it has read everything.
            try? connection.send(request)
            connection.finish()
            while let response = try? connection.response() {
                #expect(response.status != 500, "\(String(decoding: request, as: UTF8.self))")
            }
        }
        #expect(try agent.call("GET", "/readyz").status == 200)
        #expect(try program.stop() == .exited(0))
        #expect(!program.log.contains("request failed"))
    }

    private func mutate(_ request: inout [UInt8], _ random: inout SeededGenerator) {
        guard let at = request.indices.randomElement(using: &random) else { return }
        let piece = at..<min(request.endIndex, at + Int.random(in: 1...40, using: &random))
        switch Int.random(in: 0..<6, using: &random) {
        case 0: request[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: request[at] = [0, 0x0a, 0x0d, 0x20, 0x22, 0x25, 0x7f, 0xff][at % 8]
        case 2: request.removeSubrange(piece)
        case 3: request.insert(contentsOf: request[piece], at: at)
        case 4: request.removeLast(request.endIndex - at)
        default: request.insert(contentsOf: Array("\r\n: {\"é%00".utf8), at: at)
        }
    }
}
