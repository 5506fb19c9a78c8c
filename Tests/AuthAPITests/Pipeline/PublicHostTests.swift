import HTTPEngine
import Testing

@testable import AuthAPI

struct PublicHostTests {
    private func isNamed(_ host: String?, at url: String) -> Bool {
        PublicHost(publicURL: url).isNamed(
            by: Request(method: .get, target: "/", headers: host.map { [("Host", $0)] } ?? []))
    }

    @Test(
        arguments: [
            (nil, true), ("auth.test", true), ("AUTH.TEST:1", true), ("auth.test:", true),
            ("auth.test.evil.test", false), ("evil.test", false), ("localhost", false),
            ("192.0.2.1", false), ("auth.te\u{17f}t", false), ("", false),
        ] as [(String?, Bool)])
    func aRequestNamesTheHostOfThePublicURLWithAnyPort(host: String?, isNamed: Bool) {
        for url in ["https://auth.test", "https://auth.test:8443/base", "http://auth.test"] {
            #expect(self.isNamed(host, at: url) == isNamed)
        }
    }

    @Test(arguments: [
        ("localhost:8080", true), ("127.0.0.1", true), ("[::1]:8080", true),
        ("192.168.1.7:8080", true), ("evil.test", false), ("localhost.evil.test:8080", false),
    ])
    func aServerOnThisMachineHasEveryNumericHost(host: String, isNamed: Bool) {
        for url in ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"] {
            #expect(self.isNamed(host, at: url) == isNamed)
        }
    }
}
