internal import AuthCore
internal import AuthStorage
internal import Fetching
internal import HTTPEngine

/// The rules between settings, for values that are each accepted.
struct ConfigRules {
    private let config: Config
    /// The source of each key that was set.
    private let sources: [String: ConfigSource]
    private var faults: [ConfigFault] = []

    /// - Returns: the rules that the configuration breaks.
    static func faults(in config: Config, sources: [String: ConfigSource]) -> [ConfigFault] {
        var rules = ConfigRules(config: config, sources: sources)
        rules.checkProduction()
        rules.checkServer()
        rules.checkListeners()
        rules.checkAccounts()
        rules.checkProviders()
        rules.checkServices()
        rules.checkMail()
        rules.checkMailStore()
        rules.checkKeys()
        rules.checkProvisioning()
        for fault in config.mailer.faults {
            rules.add(fault.key, fault.problem, fault.remedy)
        }
        rules.checkTesting()
        return rules.faults
    }

    /// - Returns: warnings about settings that are allowed but risky.
    static func warnings(
        in config: Config, sources: [String: ConfigSource]
    ) -> [ConfigFault] {
        var rules = ConfigRules(config: config, sources: sources)
        if config.profile == .test, let key = rules.exposedListener {
            rules.add(
                key, "can be reached by other machines, in the test profile",
                "anyone who can connect can act as every user and remove everything")
        }
        guard config.profile == .production else { return rules.faults }
        if !config.limits.enabled {
            rules.add(
                "limits.enabled", "is off in the production profile",
                "without limits one client can overload the server, and passwords can be guessed")
        }
        if config.database.isExposed {
            rules.add(
                "storage.url", "names a server on another machine without sslmode=verify-full",
                "an attacker on the network could read and change the data; add it, and"
                    + " sslrootcert if the authority is your own")
        }
        if config.provisioning.url?.isExposed == true {
            rules.add(
                "provisioning.url", "is http, so addresses can be read on the network",
                "use https, or a receiver on this machine")
        }
        if config.mailer.isExposed {
            rules.add(
                "mailer.tls", "is \"none\" for a relay on another machine",
                "links that set a password, and the relay's password, can be read on the network;"
                    + " use \"starttls\" or \"tls\"")
        }
        return rules.faults
    }

    private init(config: Config, sources: [String: ConfigSource]) {
        self.config = config
        self.sources = sources
    }

    private mutating func add(_ key: String, _ problem: String, _ remedy: String) {
        let source = sources[key] ?? .defaultValue
        faults.append(ConfigFault(source: source, key: key, problem: problem, remedy: remedy))
    }

    private mutating func checkProduction() {
        guard config.profile == .production else { return }
        if config.server.publicURL == nil {
            add(
                "server.public_url", "is required in the production profile",
                "set it to the URL that clients use for this server, such as"
                    + " \"https://auth.example.com\"")
        }
        if let url = config.server.publicURL, !url.isHTTPS, !url.isLoopback {
            add(
                "server.public_url", "is http, so tokens and passwords can be read on the network",
                "use https, with a certificate in tls.certificates or a proxy that terminates TLS")
        }
        checkPasswordCost()
        checkLifetimes()
        if config.hashLogin.issuer == nil {
            add(
                "hash_login.issuer", "is required in the production profile",
                "set it, or JWT_ISSUER, to the `iss` that verifiers of login tokens expect")
        }
        for (key, isOn) in [
            ("hash_login.allow_http", config.hashLogin.allowHTTP),
            ("hash_login.allow_private_networks", config.hashLogin.allowPrivateNetworks),
            ("webhooks.allow_private_networks", config.webhooks.allowPrivateNetworks),
        ] where isOn {
            add(
                key, "is not allowed in the production profile",
                "remove it, or use the development profile for tests")
        }
    }

    /// The minimum costs of Argon2id, all equally resistant to guessing: memory in KiB and passes
    /// (OWASP, Password Storage Cheat Sheet).
    private static let leastCosts = [(47_104, 1), (19_456, 2), (12_288, 3), (9_216, 4), (7_168, 5)]

    private mutating func checkPasswordCost() {
        let cost = config.passwords
        let isEnough = Self.leastCosts.contains { memory, passes in
            cost.memoryKiB >= memory && cost.iterations >= passes
        }
        guard !isEnough else { return }
        let key =
            sources["passwords.memory_kib"] == nil ? "passwords.iterations" : "passwords.memory_kib"
        add(
            key,
            "Argon2id with \(cost.memoryKiB) KiB and \(cost.iterations) passes is too cheap for the"
                + " production profile",
            "use at least "
                + Self.leastCosts.map { "\($0) KiB and \($1)" }.joined(separator: ", or "))
    }

    private static let longestLifetime = Duration.seconds(30 * 86_400)

    private mutating func checkLifetimes() {
        for (key, lifetime) in [
            ("tokens.capability_lifetime", config.tokens.capabilityLifetime),
            ("tokens.session_lifetime", config.tokens.sessionLifetime),
            ("tokens.account_lifetime", config.tokens.accountLifetime),
        ] where lifetime > Self.longestLifetime {
            add(
                key, "is longer than 30 days, which the production profile does not allow",
                "lower it: a stolen token is valid until then")
        }
    }

    private mutating func checkServer() {
        let proxies = config.server.proxies
        if proxies.addresses.isEmpty,
            config.listeners.contains(where: { $0.proxyProtocol == .required })
        {
            let isShort = proxies.proxyProtocol == .required
            add(
                isShort ? "server.proxy_protocol" : Self.listeners,
                isShort
                    ? "is required, but no proxy is trusted"
                    : "requires a PROXY header, but no proxy is trusted",
                "name the proxies in server.trusted_proxies")
        }
        let engine = config.server.engine
        let fourRequests = 4 * (engine.bodyBytes + engine.headBytes)
        if engine.bufferBytes < fourRequests {
            add(
                "server.buffer_limit", "is too small for four requests of the largest size",
                "raise it to \(fourRequests) or more, or lower server.body_limit")
        }
    }

    private static let listeners = "server.listeners"

    private mutating func checkListeners() {
        let listeners = config.server.listeners
        if !listeners.isEmpty {
            for key in ListenerSettings.shortForm where sources[key] != nil {
                add(
                    key, "is set beside server.listeners",
                    "set it in a table of server.listeners instead")
            }
            if !listeners.contains(where: { $0.serves == .public }) {
                add(Self.listeners, "has no public one", "add one with serves = \"public\"")
            }
        }
        if case .unix = config.publicListener.address, config.server.publicURL == nil {
            add(
                "server.public_url", "is required where the first public listener is a unix socket",
                "set it to the URL that clients use for this server")
        }
        for listener in listeners { check(listener) }
        checkTLS(of: listeners)
    }

    private mutating func check(_ listener: ListenerSettings) {
        let address = listener.address.text
        let isRedirect = listener.serves == .redirect
        if isRedirect, listener.usesTLS || config.publicURL(port: 1)?.isHTTPS != true {
            add(
                Self.listeners, "\(address) redirects, but not from http to https",
                "remove its tls, and set server.public_url to an https URL")
        }
        guard listener.serves == .services else { return }
        if listener.proxyProtocol == .required {
            add(
                Self.listeners, "\(address) is for services, which send no PROXY header",
                "remove its proxy_protocol")
        }
        let isProtected =
            config.services.secretFile != nil
            || listener.usesTLS && config.tls.clientCAFile != nil
        if !listener.address.isLocal, !isProtected {
            add(
                Self.listeners, "\(address) is for services and can be reached by other machines",
                "set services.secret_file, or tls and tls.client_ca_file, or listen on 127.0.0.1,"
                    + " [::1] or a unix socket")
        }
    }

    private mutating func checkTLS(of listeners: [ListenerSettings]) {
        let encrypted = listeners.filter(\.usesTLS)
        if encrypted.isEmpty != config.tls.certificates.isEmpty {
            add(
                "tls.certificates",
                encrypted.isEmpty ? "is set, but no listener has TLS" : "is required with tls",
                encrypted.isEmpty
                    ? "set tls = true in a table of server.listeners"
                    : "name the files of a certificate and its key")
        }
        if config.tls.clientCAFile != nil, !encrypted.contains(where: { $0.serves == .services }) {
            add(
                "tls.client_ca_file", "is set, but no services listener has TLS",
                "add one to server.listeners, or remove it")
        }
    }

    private mutating func checkAccounts() {
        if config.hashLogin.failureFloor <= config.hashLogin.loginTimeout {
            add(
                "hash_login.failure_floor",
                "is not longer than hash_login.login_timeout, so answers would show slow hosts",
                "raise it or lower hash_login.login_timeout")
        }
        let pow = config.pow
        if pow.agentMaxDifficulty < pow.agentDifficulty {
            add(
                "pow.agent_max_difficulty",
                "\(pow.agentMaxDifficulty) is less than pow.agent_difficulty"
                    + " (\(pow.agentDifficulty))",
                "raise it or lower pow.agent_difficulty")
        }
        let passwords = config.passwords
        let leastMemory = 8 * passwords.parallelism
        if passwords.memoryKiB < leastMemory {
            add(
                "passwords.memory_kib",
                "\(passwords.memoryKiB) is less than 8 for each lane"
                    + " (passwords.parallelism is \(passwords.parallelism))",
                "raise it to \(leastMemory) or more, or lower passwords.parallelism")
        }
        if Set(config.mail.domains).count != config.mail.domains.count {
            add("mail.domains", "names a domain twice", "name each domain once")
        }
    }

    private mutating func checkProviders() {
        for fault in ProviderSection.faults(of: config.users.providers, in: config.profile) {
            add("users.providers", fault.problem, fault.remedy)
        }
    }

    private mutating func checkMail() {
        let mail = config.mail
        if mail.jmapSession.source == .proxy, mail.jmapURL == nil {
            add(
                "mail.jmap_session", "is \"proxy\", but there is no mail store",
                "set mail.jmap_url to its URL for clients, and mail.jmap_store_url where this"
                    + " server reaches it by another one")
        }
        guard mail.jmapSession.source == .proxy || mail.store == .jmap, let url = mail.storeURL
        else { return }
        let text = url.text + mail.jmapSession.path
        if (try? FetchTarget(text, under: mail.storeRules(areShared: true))) == nil {
            add(
                mail.jmapSession.storeURL == nil ? "mail.jmap_url" : "mail.jmap_store_url",
                "\(text) cannot be fetched",
                "use a host name of letters, digits and hyphens or an address in its usual form,"
                    + " and the characters of a URL in mail.jmap_session_path")
        }
    }

    private mutating func checkMailStore() {
        let mail = config.mail
        switch mail.store {
        case .local: checkLocalMail()
        case .jmap where mail.jmapURL == nil:
            add(
                "mail.store", "is \"jmap\", but there is no mail store",
                "set mail.jmap_url to its URL")
        case .none where mail.jmapURL != nil:
            add(
                "mail.store", "is \"none\", but mail.jmap_url names a mail store",
                "remove one of them")
        case .jmap, .none: break
        }
        guard mail.store != .local else { return }
        for key in ["mail.local_smtp", "mail.local_limit"] where sources[key] != nil {
            add(
                key, "has no use without local mail",
                "remove it, or set mail.store to \"local\" in the development or test profile")
        }
    }

    private mutating func checkLocalMail() {
        let mail = config.mail
        if config.profile == .production {
            add(
                "mail.store", "is \"local\", which the production profile does not allow",
                "set mail.jmap_url to the URL of a mail store: local mail ends with the process")
        }
        if config.database.isRemote {
            add(
                "mail.store", "is \"local\", which PostgreSQL does not allow",
                "use SQLite, or a mail store: each node would have other mail")
        }
        if mail.jmapURL != nil {
            add(
                "mail.store", "is \"local\", but mail.jmap_url names a mail store",
                "remove one of them")
        }
        if let address = mail.localSMTP, !address.isLocal {
            add(
                "mail.local_smtp", "\(address.text) can be reached by other machines",
                "listen on 127.0.0.1, [::1] or a unix socket: every client may send any mail")
        }
    }

    private mutating func checkKeys() {
        let every = config.keys.rotateEvery
        if every > .zero, every < KeySection.shortestRotation {
            add(
                "keys.rotate_every", "\(every.withUnit) is too short",
                "use at least \(KeySection.shortestRotation.withUnit), or 0 for no rotation")
        }
        let (layout, algorithm) = (config.keys.exportLayout, config.tokens.capabilityAlgorithm)
        if config.keys.exportDirectory != nil, !layout.takes(algorithm) {
            let (problem, remedy) = layout.mismatch(with: algorithm)
            add("tokens.capability_algorithm", problem, remedy + ", or another keys.export_layout")
        }
    }

    private mutating func checkProvisioning() {
        let provisioning = config.provisioning
        if provisioning.url != nil, provisioning.secretFile == nil {
            add(
                "provisioning.secret_file", "is required with provisioning.url",
                "name a file with the secret that events are signed with")
        }
    }

    /// The setting by which other machines can reach a public listener.
    private var exposedListener: String? {
        let isExposed = config.listeners.contains { $0.serves == .public && !$0.address.isLocal }
        guard isExposed else { return nil }
        return config.server.listeners.isEmpty ? "server.host" : Self.listeners
    }

    private mutating func checkTesting() {
        guard config.profile == .test, !config.testing.isExposed, let key = exposedListener else {
            return
        }
        add(
            key,
            "can be reached by other machines, which the test profile does not allow",
            "listen on 127.0.0.1 or ::1, or set testing.exposed if nobody else can connect, as in a"
                + " container: anyone who can may act as every user and remove everything")
    }

    private mutating func checkServices() {
        let services = config.services
        if let address = services.listen, !address.isLocal, services.secretFile == nil {
            add(
                "services.listen", "\(address.text) can be reached by other machines",
                "set services.secret_file, or listen on 127.0.0.1, [::1] or a unix socket")
        }
        if let address = services.socketmap, !address.isLocal {
            add(
                "services.socketmap", "\(address.text) can be reached by other machines",
                "listen on 127.0.0.1, [::1] or a unix socket: its clients send no secret")
        }
        if services.socketmap != nil, services.socketmap == services.listen {
            add(
                "services.socketmap", "is services.listen",
                "give it an address of its own: it does not speak HTTP")
        }
        let protocols = services.mailBackends.map(\.mailProtocol)
        if Set(protocols).count != protocols.count {
            add(
                "services.mail_backends", "names two servers of one protocol",
                "name one server each for imap, pop3 and smtp")
        }
    }
}
