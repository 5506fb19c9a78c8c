import Testing

@testable import Fetching

@Suite struct NameServerTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1", UInt16(53)), ("192.0.2.1:5353", "192.0.2.1", 5353),
        ("2001:DB8::1", "2001:db8::1", 53), ("[2001:db8::1]", "2001:db8::1", 53),
        ("[::1]:54", "::1", 54),
    ])
    func addressesAreTakenWithAndWithoutPort(text: String, host: String, port: UInt16) throws {
        let server = try #require(NameServer(text))
        #expect(server.host == host)
        #expect(server.port == port)
        #expect(NameServer(server.description) == server)
    }

    @Test(arguments: [
        "", "dns.test", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2.1:+53",
        "192.0.2.256", "192.0.2.1 ", "[192.0.2.1]:53", "[::1", "[::1]53", "::1]:53", "[]", ":53",
        "fe80::1%eth0", "192.0.2.1\0",
    ])
    func anythingElseIsNot(text: String) {
        #expect(NameServer(text) == nil)
    }
}
