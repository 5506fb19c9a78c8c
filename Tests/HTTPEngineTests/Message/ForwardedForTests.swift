import Testing

@testable import HTTPEngine

@Suite struct ForwardedForTests {
    private func client(_ peer: String, _ lists: [String]) throws -> String {
        let proxies = try ["10.0.0.0/8", "2001:db8::/32"].map { try #require(AddressBlock($0)) }
        let request = Request(
            method: .get, target: "/", headers: lists.map { ("X-Forwarded-For", $0) })
        return ForwardedFor.client(
            of: request.headers, from: try #require(PeerAddress(address: peer)), trusting: proxies
        ).text
    }

    @Test func aPeerThatIsNoProxyIsTheClientWhateverItSays() throws {
        #expect(try client("192.0.2.1", ["203.0.113.9"]) == "192.0.2.1")
        #expect(try client("192.0.2.1", ["10.0.0.1"]) == "192.0.2.1")
    }

    @Test func theLastAddressThatIsNoProxysIsTheClient() throws {
        #expect(try client("10.0.0.1", ["203.0.113.9"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["198.51.100.1, 203.0.113.9"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["203.0.113.9,10.0.0.2 , 2001:db8::5"]) == "203.0.113.9")
        #expect(
            try client("10.0.0.1", ["198.51.100.1", "203.0.113.9", "10.9.9.9"]) == "203.0.113.9")
    }

    @Test func withoutAListOrBeyondItTheProxyIsTheClient() throws {
        #expect(try client("10.0.0.1", []) == "10.0.0.1")
        #expect(try client("10.0.0.1", ["10.0.0.3, 10.0.0.2"]) == "10.0.0.3")
    }

    @Test(arguments: ["unknown", "", "_hidden", "203.0.113.9.", "203.0.113.9 x", "[::", "\u{fffd}"])
    func whatCannotBeReadIsTheProxysOwn(hop: String) throws {
        #expect(try client("10.0.0.1", ["203.0.113.9, \(hop)"]) == "10.0.0.1")
    }

    @Test func aPortDoesNotMatter() throws {
        #expect(try client("10.0.0.1", ["203.0.113.9:8080"]) == "203.0.113.9")
        #expect(try client("10.0.0.1", ["[2001:db9::1]:8080"]) == "2001:db9::1")
        #expect(try client("10.0.0.1", ["2001:db9::1"]) == "2001:db9::1")
    }
}
