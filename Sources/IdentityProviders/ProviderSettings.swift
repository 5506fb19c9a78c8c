public import Cryptography

/// A provider as the operator names it.
public struct ProviderSettings: Sendable {
    public enum Kind: Equatable, Sendable {
        /// A server of OpenID Connect, by its issuer.
        case openID(issuer: String)
        /// GitHub, or a GitHub Enterprise server, by the URLs of its pages and of its API, both
        /// without a slash at the end.
        case gitHub(site: String, api: String)
    }

    public let kind: Kind
    public let clientID: String
    public let clientSecret: SecretBytes
    /// Those of an OpenID provider contain `openid`.
    public let scopes: [String]

    public init(
        kind: Kind, clientID: String, clientSecret: SecretBytes, scopes: [String]
    ) {
        self.kind = kind
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.scopes = scopes
    }

    /// The provider's own name: subjects are unique below it.
    public var issuer: String {
        switch kind {
        case .openID(let issuer): issuer
        case .gitHub(let site, _): site
        }
    }
}
