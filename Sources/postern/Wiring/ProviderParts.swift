internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Fetching
internal import IdentityProviders
internal import Networking
internal import Platform

/// The identity providers of a configuration. They keep the documents of the providers, and stay
/// when other settings change.
struct ProviderParts: Sendable {
    let providers: [LoginProvider]

    /// Reads the client secrets.
    init(_ config: Config) throws(ProviderSecretError) {
        var providers: [LoginProvider] = []
        for section in config.users.providers {
            providers.append(
                LoginProvider(
                    name: section.name, label: section.label,
                    allowedDomains: section.allowedDomains,
                    client: ProviderClient(
                        try ProviderSettings(section), transport: ProviderTransport(section, config)
                    )))
        }
        self.providers = providers
    }
}

extension ProviderSettings {
    /// Reads the client secret.
    init(_ section: ProviderSection) throws(ProviderSecretError) {
        self.init(
            kind: section.isGitHub
                ? .gitHub(
                    site: section.gitHubSite?.text ?? "", api: section.gitHubAPI?.text ?? "")
                : .openID(issuer: section.issuer),
            clientID: section.clientID, clientSecret: try Self.secret(of: section),
            scopes: section.scopes)
    }

    private static func secret(
        of section: ProviderSection
    ) throws(ProviderSecretError) -> SecretBytes {
        var content: [UInt8]
        do throws(SecretFileError) {
            content = try SecretFile.content(at: section.secretFile)
        } catch {
            throw ProviderSecretError(path: section.secretFile, problem: "\(error)")
        }
        defer { content.wipe() }
        while let last = content.last, last == 0x0a || last == 0x0d { content.removeLast() }
        guard (1...1024).contains(content.count),
            content.allSatisfy({ (0x21...0x7e).contains($0) })
        else {
            throw ProviderSecretError(
                path: section.secretFile,
                problem: "must be 1 to 1,024 visible ASCII characters on one line")
        }
        return SecretBytes(content)
    }
}

/// The client secret of a provider cannot be used.
struct ProviderSecretError: Error, Equatable, CustomStringConvertible {
    let path: String
    let problem: String

    var description: String { "users.providers: secret_file \(path) \(problem)" }
}

/// Sends requests to one provider, over connections that are kept open. A provider that does not
/// answer holds up no other one, and no client all requests to it.
struct ProviderTransport: ProviderClient.Transport {
    private let fetcher: PersistentFetcher
    private let timeout: Duration
    private let certificateFile: String?
    private let profile: Profile

    init(_ section: ProviderSection, _ config: Config) {
        var limits = FetchLimits()
        limits.perTarget = 16
        limits.waiting = 64
        if config.limits.enabled {
            limits.perClient = 2
            limits.perSite = 8
        }
        fetcher = PersistentFetcher(origin: section.name, limits: limits)
        timeout = config.users.providerTimeout
        certificateFile = section.caFile
        profile = config.profile
    }

    func accepts(_ url: String) -> Bool { ProviderSection.accepts(url, in: profile) }

    func send(
        _ request: ProviderRequest, for client: IPAddress
    ) async throws(ProviderError) -> (status: Int, body: [UInt8]) {
        var outbound = OutboundRequest(
            request.form == nil ? .get : .post, request.url,
            headers: request.headers + [("User-Agent", "postern/\(Process.version)")],
            body: request.form ?? [], timeout: timeout, bodyLimit: request.bodyLimit)
        outbound.certificateFile = certificateFile
        do {
            let response = try await fetcher.send(outbound, for: client)
            return (response.status, response.body)
        } catch OutboundError.tooLarge {
            throw .invalid("the response is longer than \(request.bodyLimit) bytes")
        } catch {
            throw .unavailable("\(error)")
        }
    }
}
