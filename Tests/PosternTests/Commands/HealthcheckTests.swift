import Testing

@testable import postern

@Suite struct HealthcheckTests {
    @Test(arguments: [
        ("*", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"),
        ("192.0.2.1", "192.0.2.1"),
    ])
    func itConnectsToWhatIsListenedOn(host: String, url: String) {
        #expect(Healthcheck.reachable(host) == url)
    }
}
