internal import Glibc
internal import Testing

/// The server behind a proxy that uses the PROXY protocol.
@ProgramQueue
struct ProxyProtocolTests {
    private static let required = [
        "POSTERN_SERVER_PROXY_PROTOCOL": "required",
        "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1",
    ]
    private static let request = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    @Test func theLogNamesTheClientAndNotTheProxy() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(in: directory, variables: Self.required)
        let connection = try TestConnection(port: program.port)
        try connection.send("PROXY TCP6 2001:db8::7 ::1 4711 80\r\n" + Self.request)
        #expect(try connection.response().status == 200)
        #expect(try program.stop() == .exited(0))
        #expect(program.log.contains("\"2001:db8::7\"") && !program.log.contains("\"127.0.0.1\""))
    }

    @Test func aConnectionWithoutAHeaderIsClosedAndLogged() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(in: directory, variables: Self.required)
        let connection = try TestConnection(port: program.port)
        try connection.send(Self.request)
        #expect(throws: TestError.self) { try connection.response() }
        #expect(try program.stop() == .exited(0))
        #expect(program.log.contains("needs a PROXY protocol header"))
    }

    @Test func theHealthcheckSendsAHeaderWhenItIsRequired() throws {
        let directory = try TestDirectory()
        let program = try Program.serve(in: directory, variables: Self.required)
        let port = ["POSTERN_SERVER_PORT": "\(program.port)"]
        let same = try Program(
            ["healthcheck"], in: directory, variables: Self.required.merging(port) { $1 })
        #expect(try same.awaitEnd() == .exited(0))
        let other = try Program(["healthcheck"], in: directory, variables: port)
        #expect(try other.awaitEnd() == .exited(1))
    }
}
