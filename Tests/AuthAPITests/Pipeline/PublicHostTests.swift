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

    @Test(
        arguments: [
            (nil, true), ("auth.test", true), ("postern:8080", true), ("localhost", true),
            ("192.0.2.1", true), ("[2001:db8::1]:8080", true), ("host.docker.internal", true),
            ("postern.default.svc.cluster.LOCAL:80", true), ("mail.test", true),
            ("evil.org", false), ("localhost.evil.org:8080", false), ("internal.evil.org", false),
            ("evil.org.", false), ("127.0.0.1.evil.org", false), ("evilinternal.org", false),
        ] as [(String?, Bool)])
    func aPrivateHostIsOneThatNoOtherSiteHas(host: String?, isPrivate: Bool) {
        let request = Request(
            method: .get, target: "/", headers: host.map { [("Host", $0)] } ?? [])
        #expect(PublicHost(publicURL: "https://auth.org").isPrivate(in: request) == isPrivate)
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
