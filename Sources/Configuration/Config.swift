public import AuthCore
public import AuthStorage
internal import HTTPEngine
internal import Networking

/// All settings of an operator. They are read and checked once at start.
///
/// Each value is one that its ``Setting`` accepts, and the values are consistent with each other.
/// To add a setting, add a documented field to its section, a line to the table of the section, and
/// a line to `config/postern.toml`. Tests keep the three consistent.
public struct Config: Sendable {
    /// Changes defaults, never a value that was set.
    public var profile: Profile
    public var server = ServerSection()
    public var tls = TLSSection()
    public var storage = StorageSection()
    public var mail = MailSection()
    public var pow = ProofOfWorkSection()
    public var tokens = TokenSection()
    public var keys = KeySection()
    public var passwords = PasswordSection()
    public var accounts = AccountSection()
    public var users = UserSection()
    public var limits = LimitSection()
    public var hashLogin = HashLoginSection()
    public var dns = DNSSection()
    public var audit = AuditSection()
    public var log = LogSection()
    public var services = ServicesSection()
    public var provisioning = ProvisioningSection()
    public var webhooks = WebhooksSection()
    public var mailer = MailerSection()
    var testing = TestingSection()

    /// All settings.
    static let settings: [Setting] =
        [Setting("profile", \.profile, .oneOf)] + ServerSection.settings + TLSSection.settings
        + StorageSection.settings
        + MailSection.settings + ProofOfWorkSection.settings + TokenSection.settings
        + KeySection.settings + PasswordSection.settings + AccountSection.settings
        + UserSection.settings + LimitSection.settings + HashLoginSection.settings
        + DNSSection.settings + AuditSection.settings + LogSection.settings
        + ServicesSection.settings + ProvisioningSection.settings + WebhooksSection.settings
        + MailerSection.settings + TestingSection.settings

    /// The defaults of a profile.
    init(profile: Profile = .development) {
        self.profile = profile
        switch profile {
        case .development: break
        case .production:
            server.drainDelay = .seconds(5)
        case .test:
            pow.agentDifficulty = 1
            // The difficulty must not rise when a test suite signs up a hundred agents.
            pow.agentMaxDifficulty = 1
            pow.accountsDifficulty = 8
            limits.enabled = false
            hashLogin.failureFloor = .milliseconds(500)
            hashLogin.fetchFloor = .milliseconds(100)
            hashLogin.loginTimeout = .milliseconds(400)
            hashLogin.allowHTTP = true
            hashLogin.allowPrivateNetworks = true
            hashLogin.ports = []
            webhooks.allowPrivateNetworks = true
            webhooks.ports = []
            storage.url = .inMemory
            // Servers of several tests run at once.
            mail.localSMTP = .tcp(SocketAddress(IPAddress(v4: 0x7f00_0001), port: 0))
            // A client that stops the server knows that it has sent no further request.
            server.engine.drainGrace = .zero
        }
    }

    /// The database of `storage.url`; without one a file in the storage directory.
    public var database: Database { storage.url ?? .inDirectory(storage.directory) }

    /// The configuration with the values that follow from other settings, for showing. The public
    /// URL stays empty while the port is 0, because the port is known only when the server listens.
    var effective: Config {
        var config = self
        config.storage.url = database
        if server.publicURL == nil, profile != .production,
            case .tcp(_, let port) = publicListener.address, port != 0
        {
            config.server.publicURL = publicURL(port: port)
        }
        return config
    }

    /// The listeners for HTTP of `[server]`, the first public one first.
    public var listeners: [ListenerSettings] {
        let first = publicListener
        var others = server.listeners
        if let index = others.firstIndex(of: first) { others.remove(at: index) }
        return [first] + others
    }

    /// The first public listener.
    public var publicListener: ListenerSettings {
        server.listeners.first { $0.serves == .public }
            ?? ListenerSettings(
                address: .tcp(host: server.host, port: server.port),
                proxyProtocol: server.proxies.proxyProtocol)
    }

    /// Whether mail stores and proxies have a listener.
    public var servesServices: Bool {
        services.listen != nil || server.listeners.contains { $0.serves == .services }
    }

    /// The URL that clients use for this server; `nil` if that depends on a port that is chosen at
    /// the start.
    public var publicURLOfCommands: String? {
        if case .tcp(_, let port) = publicListener.address, port != 0 {
            return publicURL(port: port)?.text
        }
        return server.publicURL?.text
    }

    /// The URL that clients use for this server when its first public listener is on `port`.
    public func publicURL(port: UInt16) -> BaseURL? {
        server.publicURL
            ?? BaseURL("\(publicListener.usesTLS ? "https" : "http")://127.0.0.1:\(port)")
    }

    /// Sets the defaults that follow from other settings.
    /// - Parameter sources: the source of each key that was set.
    mutating func completeDefaults(sources: [String: ConfigSource]) {
        if sources["pow.agent_max_difficulty"] == nil {
            pow.agentMaxDifficulty = max(pow.agentMaxDifficulty, pow.agentDifficulty)
        }
        if sources["storage.url"] == nil && sources["storage.directory"] != nil {
            storage.url = nil
        }
        if sources["mail.store"] == nil {
            if mail.jmapURL != nil {
                mail.store = .jmap
            } else if profile == .production || database.isRemote {
                mail.store = .none
            }
        }
    }
}

/// What the server is run for.
public enum Profile: String, CaseIterable, Sendable {
    case development, test, production
}
