import Cryptography
import StrictJSON
import TestSupport
import Testing

@testable import IdentityProviders

/// What a provider must say of itself (OpenID Connect Discovery §3 and §4.3).
struct ProviderMetadataTests {
    private static let issuer = "https://id.test"
    private static let right: [(String, String)] = [
        ("issuer", #""https://id.test""#),
        ("authorization_endpoint", #""https://id.test/authorize?a=1""#),
        ("token_endpoint", #""https://id.test/token""#), ("jwks_uri", #""https://id.test/keys""#),
    ]

    private func metadata(
        _ changes: (String, String)...
    ) throws(ProviderError) -> ProviderMetadata {
        var members = Self.right
        for (name, value) in changes {
            members.removeAll { $0.0 == name }
            if !value.isEmpty { members.append((name, value)) }
        }
        let text = members.map { #""\#($0.0)":\#($0.1)"# }.joined(separator: ",")
        return try ProviderMetadata(Array("{\(text)}".utf8), of: Self.issuer) {
            $0.hasPrefix("https://")
        }
    }

    @Test func theEndpointsAreRead() throws {
        let found = try metadata(("userinfo_endpoint", #""https://id.test/me""#))
        #expect(found.tokenEndpoint == "https://id.test/token")
        #expect(found.keySetURL == "https://id.test/keys")
        #expect(found.userInfoEndpoint == "https://id.test/me")
        #expect(!found.sendsIssuer)
        #expect(found.authentication(for: SoftProvider.settings()) == .basic)
    }

    @Test(
        arguments: [
            ("issuer", ""), ("issuer", #""https://id.test/""#), ("issuer", #""https://ID.test""#),
            ("authorization_endpoint", ""), ("authorization_endpoint", #""http://id.test/a""#),
            ("authorization_endpoint", #""javascript:alert(1)""#), ("token_endpoint", "1"),
            ("token_endpoint", #""http://id.test/token""#), ("jwks_uri", ""),
            ("jwks_uri", #""file:///etc/passwd""#), ("userinfo_endpoint", #""ftp://id.test""#),
            ("token_endpoint_auth_methods_supported", #"["private_key_jwt"]"#),
            ("code_challenge_methods_supported", #"["plain"]"#),
        ])
    func whatCannotBeUsedIsRefused(name: String, value: String) {
        #expect(throws: ProviderError.self) { try metadata((name, value)) }
    }

    @Test(
        arguments: [
            (#"["client_secret_post"]"#, "plain-1", ClientAuthentication.post),
            (#"["client_secret_basic"]"#, "a:b&c", .basic),
            (#"["client_secret_post","client_secret_basic"]"#, "plain-1", .basic),
            (#"["client_secret_basic","client_secret_post"]"#, "a:b&c", .post),
        ])
    func theClientShowsItselfAsTheProviderReadsIt(
        methods: String, secret: String, expected: ClientAuthentication
    ) throws {
        let found = try metadata(("token_endpoint_auth_methods_supported", methods))
        let settings = ProviderSettings(
            kind: .openID(issuer: Self.issuer), clientID: "client",
            clientSecret: SecretBytes(Array(secret.utf8)), scopes: ["openid"])
        #expect(found.authentication(for: settings) == expected)
    }

    @Test func theDocumentIsBelowTheIssuer() {
        let path = "/.well-known/openid-configuration"
        #expect(ProviderMetadata.url(of: "https://id.test") == "https://id.test" + path)
        #expect(ProviderMetadata.url(of: "https://id.test/") == "https://id.test" + path)
        #expect(ProviderMetadata.url(of: "https://id.test/a/b") == "https://id.test/a/b" + path)
    }

    @Test(arguments: ["", "[]", "nonsense", "{"])
    func whatIsNoObjectIsRefused(text: String) {
        #expect(throws: ProviderError.self) {
            try ProviderMetadata(Array(text.utf8), of: Self.issuer) { _ in true }
        }
    }
}
