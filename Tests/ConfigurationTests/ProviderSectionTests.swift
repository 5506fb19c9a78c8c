import AuthCore
import Testing

@testable import Configuration

/// `[[users.providers]]`.
@Suite struct ProviderSectionTests {
    private static let required = [
        "name": #""google""#, "issuer": #""https://id.example.com""#, "client_id": #""c 1""#,
        "secret_file": #""/s""#,
    ].merging(["client_id": #""c-1""#]) { $1 }

    private func table(_ changes: [String: String?] = [:]) -> String {
        let fields = Self.required.merging(changes.compactMapValues { $0 }) { $1 }
            .filter { changes[$0.key] != .some(nil) }
        return "[[users.providers]]\n"
            + fields.map { "\($0.key) = \($0.value)" }.sorted().joined(separator: "\n") + "\n"
    }

    private func faults(_ text: String) -> [String] {
        do throws(ConfigFaults) {
            _ = try loader(file: text).load()
            return []
        } catch {
            return error.faults.map(\.shown)
        }
    }

    @Test func aProviderHasDefaults() throws {
        let config = try loader(file: table()).load().config
        let provider = try #require(config.users.providers.first)
        #expect(provider.name == "google" && provider.label == "google")
        #expect(provider.issuer == "https://id.example.com")
        #expect(provider.scopes == ["openid", "email"])
        #expect(provider.allowedDomains.isEmpty && provider.caFile == nil)
        #expect(!provider.isGitHub)
    }

    @Test func gitHubHasItsOwn() throws {
        let config = try loader(file: table(["issuer": #""github""#])).load().config
        let provider = try #require(config.users.providers.first)
        #expect(provider.isGitHub && provider.scopes == ["user:email"])
        #expect(provider.gitHubSite?.text == "https://github.com")
        #expect(provider.gitHubAPI?.text == "https://api.github.com")
        #expect(provider.storedIssuer == "https://github.com")
    }

    @Test func theListingCanBeReadAgain() throws {
        let texts = [
            table(),
            table([
                "label": #""Our \"ID\"""#, "scopes": #"["openid"]"#,
                "allowed_domains": #"["a.test", "b.test"]"#, "ca_file": #""/ca""#,
                "issuer": #""https://id.example.com/realm/""#,
            ]),
            table([
                "issuer": #""github""#, "github_url": #""https://ghe.test""#,
                "github_api_url": #""https://ghe.test/api/v3""#,
            ]),
        ]
        for text in texts {
            let loaded = try loader(file: text).load()
            let again = try loader(file: loaded.listing).load()
            #expect(again.config.users.providers == loaded.config.users.providers)
            #expect(loaded.listing.contains("secret_file = \"/s\""))
        }
    }

    @Test(
        arguments: [
            ("name", nil), ("issuer", nil), ("client_id", nil), ("secret_file", nil),
            ("name", #""""#), ("name", #""Google""#), ("name", #""a/b""#),
            ("name", "\"\(String(repeating: "a", count: 33))\""), ("issuer", #""google""#),
            ("issuer", #""https://id.example.com?a""#), ("issuer", #""ftp://id.example.com""#),
            ("issuer", #""https://u@id.example.com""#), ("client_id", #""""#),
            ("client_id", #""a b""#), ("scopes", "[]"), ("scopes", #"["a b"]"#),
            ("allowed_domains", #"["*.test"]"#), ("label", #""""#), ("unknown", "1"),
        ])
    func whatIsNoProviderIsAFault(name: String, value: String?) {
        let found = faults(table([name: value]))
        #expect(found.count == 1 && found.first?.contains("is not accepted") == true, "\(found)")
    }

    @Test(
        arguments: [
            (["issuer": #""http://id.example.com""#], "cannot be used"),
            (["scopes": #"["email"]"#], "lack"),
            (["github_url": #""https://ghe.test""#], "another issuer"),
            (["issuer": #""github""#, "github_url": #""http://ghe.test""#], "cannot be used"),
        ])
    func theRulesOfProviders(changes: [String: String], expected: String) {
        let found = faults(table(changes.mapValues { $0 }))
        #expect(found.count == 1 && found.first?.contains(expected) == true, "\(found)")
    }

    @Test(arguments: ["127.0.0.1:9000", "localhost:9000", "[::1]:9000"])
    func aProviderOnThisMachineMayBeHTTPForTests(host: String) throws {
        let text = table(["issuer": "\"http://\(host)\""])
        #expect(faults(text).isEmpty)
        #expect(faults("profile = \"test\"\n" + text).isEmpty)
        let found = faults("profile = \"production\"\n" + text)
        #expect(found.contains { $0.contains("http://\(host) of google cannot be used") })
    }

    @Test func namesAndIssuersAreDifferent() {
        #expect(faults(table() + table()).count == 2)
        #expect(faults(table() + table(["name": #""other""#])).count == 1)
        #expect(faults(table() + table(["issuer": #""https://other.test""#])).count == 1)
        let both = ["name": #""other""#, "issuer": #""https://other.test""#]
        #expect(faults(table() + table(both.mapValues { $0 })).isEmpty)
    }
}
