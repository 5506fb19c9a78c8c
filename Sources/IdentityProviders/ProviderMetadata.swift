internal import Cryptography
internal import StrictJSON

/// What a provider says of itself (OpenID Connect Discovery §3, RFC 8414 §2).
public struct ProviderMetadata: Equatable, Sendable {
    public let authorizationEndpoint: String
    public let tokenEndpoint: String
    public let keySetURL: String
    /// `nil` where the provider has none.
    public let userInfoEndpoint: String?
    /// Whether the provider names itself when it sends the browser back (RFC 9207 §3).
    public let sendsIssuer: Bool
    private let authentication: Set<ClientAuthentication>

    /// Where the document of an issuer is (OpenID Connect Discovery §4).
    static func url(of issuer: String) -> String {
        (issuer.utf8.last == UInt8(ascii: "/") ? String(issuer.dropLast()) : issuer)
            + "/.well-known/openid-configuration"
    }

    /// - Parameters:
    ///   - issuer: whose document it must be: another one would be of another provider (§4.3).
    ///   - isUsable: whether a URL may be asked, and browsers sent to it.
    /// - Throws: ``ProviderError/invalid(_:)``.
    public init(
        _ document: [UInt8], of issuer: String, isUsable: (String) -> Bool
    ) throws(ProviderError) {
        let members = try JSONObject(document, of: "the metadata")
        guard members.string("issuer").map({ $0.hasBytes(of: issuer) }) == true else {
            throw .invalid("the metadata is of another issuer")
        }
        func endpoint(_ name: String) throws(ProviderError) -> String {
            guard let url = members.string(name), isUsable(url) else {
                throw .invalid("the metadata has no \(name) that can be used")
            }
            return url
        }
        authorizationEndpoint = try endpoint("authorization_endpoint")
        tokenEndpoint = try endpoint("token_endpoint")
        keySetURL = try endpoint("jwks_uri")
        userInfoEndpoint =
            members.present("userinfo_endpoint") == nil ? nil : try endpoint("userinfo_endpoint")
        sendsIssuer =
            members.present("authorization_response_iss_parameter_supported")?.bool ?? false
        if let methods = members.strings("code_challenge_methods_supported"),
            !methods.contains("S256")
        {
            throw .invalid("the provider has no PKCE with S256")
        }
        // Without the member it is `client_secret_basic`.
        let methods =
            members.strings("token_endpoint_auth_methods_supported")
            ?? [ClientAuthentication.basic.rawValue]
        authentication = Set(methods.compactMap(ClientAuthentication.init))
        guard !authentication.isEmpty else { throw .invalid("the provider takes no client secret") }
    }

    /// Basic, which every provider should have, unless the client id or secret has characters that
    /// must be escaped there (RFC 6749 §2.3.1): some providers do not decode them.
    func authentication(for settings: ProviderSettings) -> ClientAuthentication {
        let secret = String(decoding: settings.clientSecret.bytes, as: UTF8.self)
        let isPlain = [settings.clientID, secret].allSatisfy { FormText.encode($0) == $0 }
        let preferred = isPlain ? ClientAuthentication.basic : .post
        return authentication.contains(preferred)
            ? preferred : authentication.first ?? .basic
    }

    /// The URL that a browser is sent to (RFC 6749 §4.1.1).
    func authorizationURL(
        _ settings: ProviderSettings, _ secrets: SignInSecrets, redirectURI: String
    ) -> String {
        AuthorizationRequest.url(
            authorizationEndpoint, settings, secrets, redirectURI: redirectURI,
            more: [("nonce", secrets.nonce)])
    }
}

enum AuthorizationRequest {
    /// - Parameter endpoint: may have a query, which is kept (RFC 6749 §3.1).
    static func url(
        _ endpoint: String, _ settings: ProviderSettings, _ secrets: SignInSecrets,
        redirectURI: String, more: [(String, String)] = []
    ) -> String {
        let fields =
            [
                ("response_type", "code"), ("client_id", settings.clientID),
                ("redirect_uri", redirectURI), ("scope", settings.scopes.joined(separator: " ")),
                ("state", secrets.state), ("code_challenge", secrets.challenge),
                ("code_challenge_method", "S256"),
            ] + more
        let separator = endpoint.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return endpoint + separator + FormText.encode(fields)
    }
}
