internal import Glibc
internal import Testing

/// Behind a proxy that speaks the PROXY protocol.
@Outside
struct ProxiedTests {
    private static let required = [
        "POSTERN_SERVER_PROXY_PROTOCOL": "required",
        "POSTERN_SERVER_TRUSTED_PROXIES": "127.0.0.1",
    ]
    private static let request = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    @Test func theLogNamesTheClientAndNotTheProxy() throws {
        let place = try Place()
        let program = try Program.serve(in: place, variables: Self.required)
        let wire = try Wire(port: program.port)
        try wire.send("PROXY TCP6 2001:db8::7 ::1 4711 80\r\n" + Self.request)
        #expect(try wire.answer().status == 200)
        #expect(try program.stop() == .exited(0))
        #expect(program.log.contains("\"2001:db8::7\"") && !program.log.contains("\"127.0.0.1\""))
    }

    @Test func whoSaysNothingOfItsClientIsClosedAndLogged() throws {
        let place = try Place()
        let program = try Program.serve(in: place, variables: Self.required)
        let wire = try Wire(port: program.port)
        try wire.send(Self.request)
        #expect(throws: TestFault.self) { try wire.answer() }
        #expect(try program.stop() == .exited(0))
        #expect(program.log.contains("PROXY protocol header was required"))
    }

    @Test func theHealthcheckSpeaksAsItsServerRequires() throws {
        let place = try Place()
        let program = try Program.serve(in: place, variables: Self.required)
        let port = ["POSTERN_SERVER_PORT": "\(program.port)"]
        let same = try Program(
            ["healthcheck"], in: place, variables: Self.required.merging(port) { $1 })
        #expect(try same.awaitEnd() == .exited(0))
        let other = try Program(["healthcheck"], in: place, variables: port)
        #expect(try other.awaitEnd() == .exited(1))
    }
}
