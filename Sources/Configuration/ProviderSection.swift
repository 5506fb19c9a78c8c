public import AuthCore
internal import Fetching
internal import Networking

/// One identity provider, from its table in `[[users.providers]]`.
public struct ProviderSection: Equatable, Sendable {
    /// The value of `issuer` for GitHub.
    static let gitHub = "github"

    /// The name in URLs and in the database.
    public var name = ""
    /// What people call it.
    public var label = ""
    /// `github`, or an issuer of OpenID Connect, byte by byte as in its metadata.
    public var issuer = ""
    public var clientID = ""
    public var secretFile = ""
    public var scopes: [String] = []
    /// Where emails must be; empty for everywhere.
    public var allowedDomains: [Domain] = []
    /// A PEM file of certificates to trust instead of the system's.
    public var caFile: String?
    /// The pages and the API of GitHub, or of a GitHub Enterprise server.
    public var gitHubSite = Self.standardSite
    public var gitHubAPI = Self.standardAPI

    private static let standardSite = BaseURL("https://github.com")
    private static let standardAPI = BaseURL("https://api.github.com")

    public var isGitHub: Bool { issuer == Self.gitHub }

    /// By which identities are stored.
    var storedIssuer: String { isGitHub ? gitHubSite?.text ?? "" : issuer }

    /// The URLs that are asked, or begin those that are.
    var urls: [String] {
        isGitHub ? [gitHubSite, gitHubAPI].compactMap { $0?.text } : [issuer]
    }

    var namesGitHubURL: Bool {
        gitHubSite != Self.standardSite || gitHubAPI != Self.standardAPI
    }

    /// Whether a URL of a provider may be asked, and browsers sent to it: https, or http on this
    /// machine outside of the production profile. The operator has named the provider, so its
    /// addresses and ports may be any.
    public static func accepts(_ url: String, in profile: Profile) -> Bool {
        let rules = FetchRules(allowsHTTP: profile != .production, ports: .any)
        // The parser has only one error, which gives no further information.
        guard let target = try? FetchTarget(url, under: rules) else { return false }
        guard target.scheme == .http else { return true }
        switch target.host {
        case .name(let name): return name == "localhost"
        case .address(let address): return address.isLoopback
        }
    }

    /// The rules that the providers break, each with what to do.
    static func faults(
        of providers: [ProviderSection], in profile: Profile
    ) -> [(problem: String, remedy: String)] {
        var faults = providers.flatMap { $0.faults(in: profile) }
        if Set(providers.map(\.name)).count != providers.count {
            faults.append(("has two providers of one name", "give each a name of its own"))
        }
        if Set(providers.map(\.storedIssuer)).count != providers.count {
            faults.append(
                (
                    "has two providers of one issuer",
                    "name each issuer once: a user has one identity there"
                ))
        }
        return faults
    }

    private func faults(in profile: Profile) -> [(problem: String, remedy: String)] {
        var faults = urls.filter { !Self.accepts($0, in: profile) }.map { url in
            (
                problem: "\(url) of \(name) cannot be used",
                remedy: "use https; in the development and test profiles also http on this machine"
            )
        }
        guard !isGitHub else { return faults }
        if !scopes.contains("openid") {
            faults.append(("the scopes of \(name) lack \"openid\"", "add it"))
        }
        if namesGitHubURL {
            faults.append(
                (
                    "\(name) has a URL of GitHub, but another issuer",
                    "set its issuer to \"github\", or remove the URL"
                ))
        }
        return faults
    }

    static let syntax = Syntax<ProviderSection>(
        accepts: "a table with name (\(providerName.accepts)), issuer (\(issuerSyntax.accepts)),"
            + " client_id and secret_file, and label, scopes, allowed_domains, ca_file, or for"
            + " GitHub Enterprise github_url and github_api_url, where they are not the defaults",
        parse: { raw in
            guard var fields = TableFields(raw),
                let name = fields.take("name", providerName),
                let issuer = fields.take("issuer", issuerSyntax),
                let clientID = fields.take("client_id", Syntax<String>.visible(1...255)),
                let secretFile = fields.take("secret_file", Syntax<String>.path)
            else { return nil }
            var provider = ProviderSection()
            provider.name = name
            provider.label = name
            provider.issuer = issuer
            provider.clientID = clientID
            provider.secretFile = secretFile
            provider.scopes = provider.isGitHub ? ["user:email"] : ["openid", "email"]
            fields.take("label", label, into: &provider.label)
            fields.take("scopes", scopes, into: &provider.scopes)
            fields.take("allowed_domains", domains, into: &provider.allowedDomains)
            fields.take("ca_file", Syntax<String>.path.optional, into: &provider.caFile)
            fields.take("github_url", BaseURL.syntax.optional, into: &provider.gitHubSite)
            fields.take("github_api_url", BaseURL.syntax.optional, into: &provider.gitHubAPI)
            return fields.areAccepted ? provider : nil
        },
        show: { provider in
            var fields = [
                ("name", RawValue.quote(provider.name)), ("label", RawValue.quote(provider.label)),
                ("issuer", RawValue.quote(provider.issuer)),
                ("client_id", RawValue.quote(provider.clientID)),
                ("secret_file", RawValue.quote(provider.secretFile)),
            ]
            func add(_ name: String, _ value: String?) {
                if let value { fields.append((name, value)) }
            }
            add("scopes", scopes.show(provider.scopes))
            add("allowed_domains", domains.show(provider.allowedDomains))
            add("ca_file", Syntax<String>.path.optional.show(provider.caFile))
            if provider.namesGitHubURL {
                add("github_url", BaseURL.syntax.optional.show(provider.gitHubSite))
                add("github_api_url", BaseURL.syntax.optional.show(provider.gitHubAPI))
            }
            return "{ " + fields.map { "\($0.0) = \($0.1)" }.joined(separator: ", ") + " }"
        })

    private static let providerName = Syntax<String>.string(
        "1 to 32 of a-z, 0-9 and -",
        read: { text in
            let isAccepted =
                (1...32).contains(text.utf8.count)
                && text.utf8.allSatisfy { byte in
                    (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d
                }
            return isAccepted ? text : nil
        }, write: { $0 })

    /// OpenID Connect Discovery §3: no query, no fragment. A slash at the end belongs to it.
    private static let issuerSyntax = Syntax<String>.string(
        "\"github\", or the https URL of an OpenID provider",
        read: { text in text == gitHub || BaseURL(text) != nil ? text : nil }, write: { $0 })

    private static let label = Syntax<String>.string(
        "1 to 40 characters without control characters",
        read: { text in
            let isAccepted =
                (1...40).contains(text.unicodeScalars.count)
                && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7f }
            return isAccepted ? text : nil
        }, write: { $0 })

    private static let scopes = Syntax<[String]>.list(
        of: .visible(1...100), 1...20, accepts: "1 to 20 scopes")

    private static let domains = Syntax<[Domain]>.list(
        of: .string("a domain name", read: { Domain(parsing: $0) }, write: \.text), 0...100,
        accepts: "at most 100 domain names")
}
