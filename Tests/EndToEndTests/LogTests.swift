internal import StrictJSON
internal import Testing

@ProgramQueue
struct LogTests {
    private func lines(_ program: Program) throws -> [JSONObject] {
        #expect(try program.stop() == .exited(0))
        return try program.log.split(separator: "\n").map { line in
            guard let object = try JSONValue.parse(Array(line.utf8)).object else {
                throw TestError("not an object: \(line)")
            }
            return object
        }
    }

    @Test func noClientInputForgesALine() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(in: directory)
        let forged = #"{"level":"critical","message":"forged"}"#
        let requests = [
            "GET /nowhere%0a\(forged) HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /healthz?a=%0d%0a%7b%22forged%22%7d HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /%1b%5b2Jforged%e2%80%a8%00 HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Request-Id: forged\"}\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: forged\r\n\r\n",
            "GET /healthz HTTP/1.1\r\nHost: a\r\nUser-Agent: \u{1b}[2Jforged\r\n\r\n",
            "FORGED\u{1b}[2J /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
            "forged\n\(forged)\n\r\n\r\n",
        ]
        for request in requests {
            let connection = try TestConnection(port: program.port)
            try connection.send(request)
            #expect(try connection.response().status < 500)
        }
        let lines = try lines(program)
        #expect(!program.log.contains("forged"))
        #expect(!program.log.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        #expect(lines.filter { $0["message"]?.string == "request" }.count == requests.count)
    }

    @Test func eachRequestIsOneLineWithTheIDOfItsResponseAndNoSecret() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(in: directory)
        let agent = Agent(program)
        let solved = try agent.solve()
        let signup = try agent.open(solved, "username", "discreet")
        let session = try Agent.token(in: signup)
        let granted = try agent.call("POST", "/api/v1/capability", bearer: session)
        let capability = try Agent.token(in: granted)
        _ = try agent.call("GET", "/.well-known/jmap?key=\(capability)", bearer: capability)
        let rotated = try agent.call("POST", "/api/v1/api-key", bearer: session)

        let lines = try lines(program)
        for secret in [
            solved.challenge, session, capability, try signup.member("apiKey"),
            try rotated.member("apiKey"),
        ] { #expect(!program.log.contains(secret)) }

        let id = try #require(signup["x-request-id"])
        let mine = lines.filter {
            $0["id"]?.string == id && $0["message"]?.string == "request"
        }
        #expect(mine.count == 1)
        #expect(mine.first?["http.request.method"]?.string == "POST")
        #expect(mine.first?["http.route"]?.string == "/api/v1/session")
        #expect(mine.first?["http.response.status_code"]?.integer == 201)
        #expect(mine.first?["client.address"]?.string == "127.0.0.1")
    }

    @Test func behindATrustedProxyTheClientIsTheOneThatItNames() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(
            in: directory, variables: ["POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.0/8,::1"])
        let connection = try TestConnection(port: program.port)
        let list = "X-Forwarded-For: 198.51.100.7, 203.0.113.9"
        try connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\(list)\r\n\r\n")
        #expect(try connection.response().status == 200)
        let clients = try lines(program).compactMap { $0["client.address"]?.string }
        #expect(clients == ["203.0.113.9"])
    }
}
