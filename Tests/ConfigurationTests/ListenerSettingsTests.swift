import AuthCore
import HTTPEngine
import Testing

@testable import Configuration

/// `[[server.listeners]]` and `[tls]`.
@Suite struct ListenerSettingsTests {
    private static let certificates = """
        [tls]
        certificates = [{ certificate = "/c", key = "/k" }]

        """

    /// A file with one public listener with TLS, and `more`.
    private func text(_ more: String = "") -> String {
        "[[server.listeners]]\naddress = \"*:443\"\ntls = true\n\(more)\n\(Self.certificates)"
    }

    private func keys(_ text: String, _ environment: [String: String] = [:]) -> [String] {
        do throws(ConfigFaults) {
            _ = try loader(file: text, environment: environment).load()
            return []
        } catch {
            return error.faults.map(\.key)
        }
    }

    @Test func withoutListenersThereIsOneAtHostAndPort() throws {
        let config = try loader(file: "server.port = 81\nserver.host = \"::1\"").load().config
        let expected = ListenerSettings(address: .tcp(host: "::1", port: 81))
        #expect(config.listeners == [expected] && config.publicListener == expected)
    }

    @Test func listenersHaveAllTheirFieldsAndThePublicOneIsFirst() throws {
        let file = """
            server.trusted_proxies = ["192.0.2.1"]
            server.public_url = "https://a.test"
            [[server.listeners]]
            address = "0.0.0.0:80"
            serves = "redirect"
            [[server.listeners]]
            address = "[::]:443"
            tls = true
            proxy_protocol = "required"
            [[server.listeners]]
            address = "unix:/run/s"
            serves = "services"
            [tls]
            certificates = [{ certificate = "/c", key = "/k", ocsp = "/o" }]
            """
        let loaded = try loader(file: file).load()
        let first = ListenerSettings(
            address: .tcp(host: "::", port: 443), usesTLS: true, proxyProtocol: .required)
        #expect(
            loaded.config.listeners == [
                first,
                ListenerSettings(address: .tcp(host: "0.0.0.0", port: 80), serves: .redirect),
                ListenerSettings(address: .unix(path: "/run/s"), serves: .services),
            ])
        #expect(loaded.config.publicListener == first && loaded.config.servesServices)
        #expect(
            loaded.config.tls.certificates
                == [TLSSection.Certificate(certificate: "/c", key: "/k", ocsp: "/o")])
        #expect(loaded.sources["server.listeners"] == .file(path: "config/postern.toml", line: 3))
        // What is printed is read as the same again.
        let again = try loader(file: loaded.listing).load()
        #expect(again.config.listeners == loaded.config.listeners)
        #expect(again.config.tls.certificates == loaded.config.tls.certificates)
    }

    @Test(arguments: [
        "*:443", "0.0.0.0:0", "127.0.0.1:65535", "[::1]:443", "[2001:db8::1]:1", "unix:/run/s",
    ])
    func anAddressIsReadAsItIsShown(text: String) throws {
        #expect(try #require(ListenerAddress(text)).text == text)
    }

    @Test(arguments: [
        "", "443", ":443", "*", "*:", "*:65536", "*:+1", "localhost:443", "127.0.0.1", "::1:443",
        "[::1]", "[127.0.0.1]:443", "[*]:443", "unix:", "http://127.0.0.1:443",
    ])
    func anythingElseIsNoAddress(text: String) {
        #expect(ListenerAddress(text) == nil)
    }

    @Test(arguments: [
        "serves = \"mail\"", "tls = 1", "proxy_protocol = true", "adress = \"*:80\"", "port = 80",
    ])
    func aFieldThatIsNotAcceptedIsAFault(line: String) {
        #expect(
            keys("[[server.listeners]]\naddress = \"*:443\"\n\(line)") == ["server.listeners"])
    }

    @Test func aTableNeedsAnAddressAndACertificateItsFiles() {
        #expect(keys("[[server.listeners]]\nserves = \"public\"") == ["server.listeners"])
        #expect(
            keys("[tls]\ncertificates = [{ certificate = \"/c\" }]") == ["tls.certificates"])
        #expect(
            keys("[tls]\ncertificates = [{ certificate = \"/c\", key = \"/k\", x = \"\" }]")
                == ["tls.certificates"])
    }

    @Test func theEnvironmentCannotSetTables() {
        #expect(keys("", ["POSTERN_SERVER_LISTENERS": "*:443"]) == ["server.listeners"])
        #expect(keys("", ["POSTERN_TLS_CERTIFICATES": "/c"]) == ["tls.certificates"])
    }

    @Test(arguments: [
        ("[server]\nhost = \"127.0.0.1\"", ["server.host"]),
        ("[server]\nport = 8080", ["server.port"]),
        ("[server]\nproxy_protocol = \"off\"", ["server.proxy_protocol"]),
    ])
    func theShortFormBesideListenersIsAFault(short: String, expected: [String]) {
        #expect(keys("\(short)\n\(text())") == expected)
    }

    @Test func thereMustBeAPublicListener() {
        #expect(
            keys("[[server.listeners]]\naddress = \"unix:/s\"\nserves = \"services\"")
                == ["server.listeners"])
    }

    @Test func certificatesAndListenersWithTLSNeedEachOther() {
        #expect(keys(Self.certificates) == ["tls.certificates"])
        #expect(
            keys("[[server.listeners]]\naddress = \"*:443\"\ntls = true") == ["tls.certificates"])
        #expect(keys(text()).isEmpty)
    }

    @Test func aRedirectIsFromHTTPToHTTPS() {
        let redirect = "[[server.listeners]]\naddress = \"*:80\"\nserves = \"redirect\"\n"
        #expect(keys(text(redirect)).isEmpty)
        #expect(keys(text(redirect + "tls = true")) == ["server.listeners"])
        let plain = "[[server.listeners]]\naddress = \"*:8080\"\n"
        #expect(keys(plain + redirect) == ["server.listeners"])
        // Behind a proxy that terminates TLS.
        #expect(keys("server.public_url = \"https://a.test\"\n" + plain + redirect).isEmpty)
    }

    @Test func servicesForOtherMachinesNeedASecretOrClientCertificates() {
        let services = "[[server.listeners]]\naddress = \"*:8443\"\nserves = \"services\"\n"
        let secret = "services.secret_file = \"/s\"\n"
        #expect(keys(text(services)) == ["server.listeners"])
        #expect(keys(text(services + "tls = true")) == ["server.listeners"])
        #expect(keys(secret + text(services)).isEmpty)
        let both = text(services + "tls = true").replacing(
            "[tls]", with: "[tls]\nclient_ca_file = \"/a\"")
        #expect(keys(both).isEmpty)
        #expect(
            keys(text().replacing("[tls]", with: "[tls]\nclient_ca_file = \"/a\""))
                == ["tls.client_ca_file"])
    }

    @Test func aProxyHeaderNeedsATrustedProxyAndAPublicListener() {
        let required = "proxy_protocol = \"required\""
        #expect(keys(text(required)) == ["server.listeners"])
        let trusted = "server.trusted_proxies = [\"192.0.2.1\"]\n"
        #expect(keys(trusted + text(required)).isEmpty)
        let services =
            "[[server.listeners]]\naddress = \"unix:/s\"\nserves = \"services\"\n\(required)"
        #expect(keys(trusted + text(services)) == ["server.listeners"])
    }

    @Test func thePublicURLFollowsTheFirstPublicListener() throws {
        let config = try loader(file: text()).load().config
        #expect(config.publicURL(port: 8443)?.text == "https://127.0.0.1:8443")
        #expect(config.effective.server.publicURL?.text == "https://127.0.0.1:443")
        #expect(
            keys("[[server.listeners]]\naddress = \"unix:/s\"") == ["server.public_url"])
    }
}
