import Testing

@testable import postern

@Suite struct HealthcheckCommandTests {
    @Test(arguments: [
        ("*", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"),
        ("192.0.2.1", "192.0.2.1"),
    ])
    func itConnectsToAnAddressThatTheServerListensOn(host: String, url: String) {
        #expect(HealthcheckCommand.reachable(host) == url)
    }
}
