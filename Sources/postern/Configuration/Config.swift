internal import AuthCore
internal import AuthStorage
internal import HTTPEngine

/// Everything that an operator can set. It is built and checked once at start.
///
/// Each value is one that its ``Setting`` accepts, and the values are consistent with each other.
/// To add a setting, add a documented field to its section, a line to the table of the section, and
/// a line to `config/postern.toml`. Tests keep the three consistent.
struct Config: Sendable {
    /// Changes defaults, never a value that was set.
    var profile: Profile
    var server = ServerSection()
    var storage = StorageSection()
    var mail = MailSection()
    var pow = ProofOfWorkSection()
    var tokens = TokenSection()
    var keys = KeySection()
    /// The cost of Argon2id; AuthCore owns the defaults.
    var passwords = PasswordHasher.Settings()
    var accounts = AccountSection()
    var users = UserSection()
    var limits = LimitSection()
    var hashLogin = HashLoginSection()
    var dns = DNSSection()
    var audit = AuditSection()
    var log = LogSection()
    var services = ServicesSection()
    var provisioning = ProvisioningSection()
    var testing = TestingSection()

    /// All settings.
    static let settings: [Setting] =
        [Setting("profile", \.profile, .oneOf)] + ServerSection.settings + StorageSection.settings
        + MailSection.settings + ProofOfWorkSection.settings + TokenSection.settings
        + KeySection.settings + PasswordSection.settings + AccountSection.settings
        + UserSection.settings + LimitSection.settings + HashLoginSection.settings
        + DNSSection.settings + AuditSection.settings + LogSection.settings
        + ServicesSection.settings + ProvisioningSection.settings + TestingSection.settings

    /// The defaults of a profile.
    init(profile: Profile = .development) {
        self.profile = profile
        switch profile {
        case .development: break
        case .production: server.drainDelay = .seconds(5)
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
            storage.url = .inMemory
            // Clients that stop the server know that they have no request on its way.
            server.engine.drainGrace = .zero
        }
    }

    /// The database of `storage.url`; without one a file in the storage directory.
    var database: Database { storage.url ?? .inDirectory(storage.directory) }

    /// The configuration with the values that follow from other settings, for showing. The public
    /// URL stays empty while the port is 0, because the port is known only when the server listens.
    var effective: Config {
        var config = self
        config.storage.url = database
        if server.publicURL == nil && profile != .production && server.port != 0 {
            config.server.publicURL = publicURL(port: server.port)
        }
        return config
    }

    /// The URL that clients use for this server when it listens on `port`.
    func publicURL(port: UInt16) -> BaseURL? {
        server.publicURL ?? BaseURL("http://127.0.0.1:\(port)")
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
    }
}

/// What the server is run for.
enum Profile: String, CaseIterable, Sendable {
    case development, test, production
}
