internal import AuthCore
internal import AuthStorage
internal import HTTPEngine

/// Everything an operator can set, already checked: built once at start, then only read.
///
/// Promises: a value in here is one that its ``Setting`` accepts, and the values fit together. To
/// add a setting, add a documented field to its section, its line to the section's table, and its
/// line to `config/postern.toml`; tests hold the three together.
struct Config: Sendable {
    /// `profile`: `development`, `test` or `production`; changes defaults, never what was set.
    var profile: Profile
    var server = Server()
    var storage = Storage()
    var mail = Mail()
    var pow = ProofOfWork()
    var tokens = Tokens()
    var passwords = Passwords()
    var accounts = Accounts()
    var users = Users()
    var limits = Limits()
    var hashLogin = HashLogin()
    var dns = DNS()
    var audit = Audit()

    /// Every setting there is.
    static let settings: [Setting] =
        [Setting("profile", \.profile, .oneOf)] + Server.settings + Storage.settings
        + Mail.settings + ProofOfWork.settings + Tokens.settings + Passwords.settings
        + Accounts.settings + Users.settings + Limits.settings + HashLogin.settings
        + DNS.settings
        + Audit.settings

    /// The defaults of a profile.
    init(profile: Profile = .development) {
        self.profile = profile
        switch profile {
        case .development: break
        case .production: server.drainDelay = .seconds(5)
        case .test:
            pow.agentDifficulty = 1
            // A suite that signs up a hundred agents must not find the last ones slower.
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
        }
    }
}

/// What the server is run for.
enum Profile: String, CaseIterable, Sendable {
    case development, test, production
}

extension Config {
    /// The database of `storage.url`; a file in the storage directory when that is not set.
    var database: Database { storage.url ?? .inDirectory(storage.directory) }

    /// The same with everything filled in that follows from other settings, for showing. The public
    /// URL stays open while the port is: it is known once the server listens.
    var effective: Config {
        var config = self
        config.storage.url = database
        if server.publicURL == nil && profile != .production && server.port != 0 {
            config.server.publicURL = publicURL(port: server.port)
        }
        return config
    }

    /// The URL that this server is known by when it listens on `port`.
    func publicURL(port: Int) -> BaseURL? {
        server.publicURL ?? BaseURL("http://127.0.0.1:\(port)")
    }

    /// Rules between settings, checked once every single value is known to be good.
    /// - Parameter sources: where each key that was set came from.
    func conflicts(sources: [String: Source]) -> [Fault] {
        var faults: [Fault] = []
        func add(_ key: String, _ problem: String, _ remedy: String) {
            let source = sources[key] ?? .standard
            faults.append(Fault(source: source, key: key, problem: problem, remedy: remedy))
        }
        if profile == .production && server.publicURL == nil {
            add(
                "server.public_url", "is required in the production profile",
                "set it to the URL that clients reach this server by, such as"
                    + " \"https://auth.example.com\"")
        }
        if profile == .production && hashLogin.issuer == nil {
            add(
                "hash_login.issuer", "is required in the production profile",
                "set it, or JWT_ISSUER, to what verifiers of login tokens expect as `iss`")
        }
        for (key, isOn) in [
            ("hash_login.allow_http", hashLogin.allowHTTP),
            ("hash_login.allow_private_networks", hashLogin.allowPrivateNetworks),
        ] where profile == .production && isOn {
            add(
                key, "is for tests, and this is the production profile",
                "leave it out, or try things out in the development profile")
        }
        if hashLogin.failureFloor <= hashLogin.loginTimeout {
            add(
                "hash_login.failure_floor",
                "is not longer than hash_login.login_timeout, so a slow host would show",
                "raise it or lower hash_login.login_timeout")
        }
        if server.proxyProtocol == .required && server.trustedProxies.isEmpty {
            add(
                "server.proxy_protocol", "is required of nobody: no proxy is trusted",
                "name the proxies in server.trusted_proxies")
        }
        let fewRequests = 4 * (server.bodyLimit + server.headLimit)
        if server.bufferLimit < fewRequests {
            add(
                "server.buffer_limit", "has no room for four of the largest requests",
                "raise it to \(fewRequests) or more, or lower server.body_limit")
        }
        if pow.agentMaxDifficulty < pow.agentDifficulty {
            add(
                "pow.agent_max_difficulty",
                "\(pow.agentMaxDifficulty) is less than pow.agent_difficulty"
                    + " (\(pow.agentDifficulty))",
                "raise it or lower pow.agent_difficulty")
        }
        let leastMemory = 8 * passwords.parallelism
        if passwords.memoryKiB < leastMemory {
            add(
                "passwords.memory_kib",
                "\(passwords.memoryKiB) is less than 8 for each lane"
                    + " (passwords.parallelism is \(passwords.parallelism))",
                "raise it to \(leastMemory) or more, or lower passwords.parallelism")
        }
        if Set(mail.domains).count != mail.domains.count {
            add("mail.domains", "names a domain twice", "name each domain once")
        }
        return faults
    }

    /// Defaults that follow another setting, put in place where nobody set them.
    mutating func settle(sources: [String: Source]) {
        if sources["pow.agent_max_difficulty"] == nil {
            pow.agentMaxDifficulty = max(pow.agentMaxDifficulty, pow.agentDifficulty)
        }
        if sources["storage.url"] == nil && sources["storage.directory"] != nil {
            storage.url = nil
        }
    }
}
