internal import AuthAPI
internal import AuthCore
internal import AuthStorage
internal import Configuration
internal import Cryptography
internal import HTTPEngine
internal import Mailing
internal import Platform
internal import QRCode
internal import Scheduling
internal import Synchronization

/// Everything that answers requests, assembled from a configuration: stores, keys, use cases and
/// routes.
///
/// Owns the stores and the event loops, on which requests and statements run; the caller must call
/// ``close()``. A class, because the code that copies its fields would be 100 KB.
final class Application: Sendable {
    /// The parts that stay when settings change.
    private struct Base: Sendable {
        let publicURL: String
        let eventLoops: [EventLoop]
        let stores: Stores
        let keys: KeyRing
        let tokens: TokenAuthority
        let pools: Pools
        let metrics: Metrics
        let clock: ServerClock
        let events: SecurityEvents
        let isDraining: @Sendable () -> Bool
        let report: @Sendable (RemoteFailure) -> Void
    }

    private let base: Base
    private let parts: LastingParts
    let useCases: UseCases
    let apis: APIs
    /// The handler of a listener that redirects to the public URL.
    let redirects: Router
    /// The handlers of the listeners for mail stores, mail servers and proxies.
    let services: ServicesAPI
    let mail: AccountsMail
    /// The listener of local mail, if there is local mail.
    let smtp: SMTPService?

    /// Opens and migrates the database and opens the stored keys. Missing keys are created in the
    /// background.
    /// - Parameters:
    ///   - publicURL: the URL that clients use for this server.
    ///   - secret: the master secret; by default the one of the configuration.
    ///   - clock: the system's, except for a test suite.
    ///   - isDraining: whether the server is stopping.
    ///   - report: called when another server gives a wrong answer or none. The client does not see
    ///     the cause.
    static func open(
        _ config: Config, publicURL: String, secret: SecretBytes? = nil,
        clock: ServerClock = SystemClock.clocks,
        observers: StoreObservers = StoreObservers(),
        events: SecurityEvents = SecurityEvents { _, _ in },
        isDraining: @escaping @Sendable () -> Bool,
        report: @escaping @Sendable (RemoteFailure) -> Void = { _ in }
    ) async throws -> Application {
        // Checks that need no database run before one is created.
        let servicesSettings = try ServicesAPI.Settings(
            config.services, isServed: config.servesServices)
        let found = try secret ?? MasterSecret.find(for: config)
        try MasterSecret.checkDatabase(of: config)
        try config.database.checkWritable()
        let mailQueue = try MailQueue(config, publicURL: publicURL, report: report)
        let localMail = LocalMailHost(config, clock: clock)
        let eventLoops = try config.server.engine.makeEventLoops()
        var opened: Stores?
        do {
            let stores = try await config.database.open(
                connections: config.storage.connections, on: eventLoops,
                shares: config.limits.queueShares,
                observers: localMail?.observing(observers) ?? observers, at: clock.now())
            opened = stores
            try await checkSubjects(config.mail, stores)
            let pools = Pools(shares: config.limits.queueShares)
            var reread: (@Sendable () throws -> SecretBytes)?
            if !config.database.isInMemory { reread = { try MasterSecret.reread(for: config) } }
            let secret =
                if let found { found } else {
                    try await MasterSecret.create(for: config, in: stores)
                }
            let keys = try KeyRing(
                stores, config, secret: secret, rereading: reread, pool: pools.signing,
                clock: clock)
            // Servers of test suites end before they need most keys, and creating an RSA key takes
            // more CPU time than the rest of the start.
            try await keys.start(generatesMissing: config.profile != .test)
            let tokens = TokenAuthority(
                realm: Realm(config, publicURL: publicURL), keys: keys, signers: pools.signing)
            let parts = try LastingParts(
                config, stores, localMail, MailWork(pool: pools.mail), mailQueue, clock, report)
            let metrics = Metrics()
            metrics.add(parts, stores, pools)
            metrics.add(stores)
            metrics.add(keys)
            return try Application(
                config, servicesSettings,
                Base(
                    publicURL: publicURL, eventLoops: eventLoops, stores: stores, keys: keys,
                    tokens: tokens, pools: pools, metrics: metrics, clock: clock, events: events,
                    isDraining: isDraining, report: report), parts)
        } catch {
            await opened?.close()
            for loop in eventLoops { loop.stop() }
            throw error
        }
    }

    /// The same application with other settings. Only reloadable settings may differ
    /// (``Setting/isReloadable``). Requests in flight continue with the present application.
    /// - Throws: why the new settings cannot be used; then nothing has changed.
    func applying(_ config: Config) async throws -> Application {
        let servicesSettings = try ServicesAPI.Settings(
            config.services, isServed: config.servesServices)
        try await Self.checkSubjects(config.mail, stores)
        return try Application(config, servicesSettings, base, parts.applying(config))
    }

    private init(
        _ config: Config, _ servicesSettings: ServicesAPI.Settings, _ base: Base,
        _ parts: LastingParts
    ) throws {
        self.base = base
        self.parts = parts
        let (publicURL, clock, events) = (base.publicURL, base.clock, base.events)
        let limiter = parts.limiter
        useCases = try UseCases(
            config, base.stores, base.tokens, base.keys, base.pools, parts, clock, base.report)
        let names = MailNames(config.mail)
        mail =
            parts.localMail?.use(
                useCases.mailServices, names, parts.mailWork, useCases.webhookEvents)
            ?? AccountsMail(
                local: nil, names: names, work: parts.mailWork,
                remote: RemoteAccounts(parts.remoteStore, useCases.mailServices, config))
        let agent = AgentAPI(
            agents: useCases.agents, publicURL: publicURL,
            jmap: JMAPDirectory(config.mail, publicURL: publicURL),
            storeSessions: parts.storeSessions, mail: mail, limiter: limiter, events: events,
            clock: clock)
        services = ServicesAPI(
            services: useCases.mailServices, webhookEvents: useCases.webhookEvents,
            settings: servicesSettings, metrics: base.metrics, limiter: limiter, events: events,
            clock: clock)
        smtp = parts.localMail?.smtp(serverName: config.mail.domains[0].text)
        // Only the development and test profiles have local mail.
        let captured = mail.local.map { CapturedMailAPI(mail: $0, agent: agent, clock: clock) }
        apis = APIs(
            agent: agent,
            accounts: AccountsAPI(
                mailboxes: useCases.mailboxes, users: useCases.users,
                links: useCases.emailLinks, sessions: useCases.userSessions,
                passkeys: useCases.passkeys,
                secondFactors: useCases.secondFactors,
                qrCode: { [report = base.report] text in
                    do throws(QRCodeError) {
                        return try QRCode.svg(of: text)
                    } catch {
                        report(.qrCode(cause: "\(error)"))
                        return nil
                    }
                },
                providerLogins: useCases.providerLogins, apiTokens: useCases.apiTokens,
                domains: useCases.domains, webhooks: useCases.webhooks,
                authenticator: useCases.authenticator,
                publicURL: publicURL, mail: mail, limiter: limiter, events: events,
                clock: clock),
            hashLogin: HashLoginAPI(
                logins: useCases.hashLogins, publicURL: publicURL, hasMailPage: captured != nil,
                limiter: limiter, events: events, clock: clock),
            discovery: DiscoveryAPI(
                agent: agent, keys: base.keys, difficulty: config.pow.agentDifficulty,
                bodyLimit: config.server.engine.bodyBytes, clock: clock),
            web: WebAPI(
                agent: agent, settings: AccountsSettings(config),
                sendsMail: useCases.emailLinks.areSent,
                providers: useCases.providerLogins.providers, hasMailPage: captured != nil),
            capturedMail: captured,
            operations: OperationsAPI(
                agent: agent, isDraining: base.isDraining, pingDatabase: base.stores.ping,
                clock: clock.monotonic),
            acmeChallenges: ACMEChallenges(agent: agent, in: config.tls.acmeDirectory),
            services: services)
        redirects = apis.redirects(to: BaseURL(publicURL)?.origin ?? publicURL)
    }

    /// The URL that clients use for this server.
    var publicURL: String { base.publicURL }
    var eventLoops: [EventLoop] { base.eventLoops }
    var stores: Stores { base.stores }
    var keys: KeyRing { base.keys }
    var pools: Pools { base.pools }
    var metrics: Metrics { base.metrics }
    /// The mail in this process, if there is any.
    var localMail: LocalMailHost? { parts.localMail }
    /// What sends the events of users' webhooks.
    var webhooks: WebhookParts { parts.webhooks }
    /// The routes of the public listener in the development and production profiles.
    var router: Router { apis.router() }

    func close() async {
        parts.mailQueue?.stop()
        await parts.mailQueue?.finish()
        await stores.close()
        for loop in eventLoops { loop.stop() }
    }

    /// If subjects are local parts, mailboxes of agents on an earlier and on the present first
    /// domain can have the same subject. The mail store then cannot distinguish them.
    private static func checkSubjects(_ mail: MailSection, _ stores: Stores) async throws {
        let first = mail.domains[0]
        if mail.subject == .localPart,
            let other = try await stores.accountDirectory.agentDomain(otherThan: first)
        {
            throw SubjectError(first: first, other: other)
        }
    }
}

/// `mail.subject` is `local_part`, and agents have accounts on a domain that is not the first one.
struct SubjectError: Error, CustomStringConvertible {
    let first: Domain
    let other: Domain

    var description: String {
        "mail.subject is \"local_part\", the first of mail.domains is \(first), and agents have"
            + " accounts on \(other): the mail store would take two mailboxes of one name for one."
            + " Make \(other) the first of mail.domains again, delete these accounts, or set"
            + " mail.subject to \"address\" or \"account_id\""
    }
}

/// The pools that slow work runs on.
struct Pools: Sendable {
    let hashing: WorkerPool
    let signing: WorkerPool
    /// For long JMAP requests and large messages.
    let mail: WorkerPool

    /// - Parameter shares: the part of each pool that one client or site may use.
    init(shares: WorkerPool.Shares = .ofQueue, cores: Int = Process.processorCount) {
        // A password hash takes 30 ms and a pass of proofs 50 ms, so the last job of a full queue
        // waits about three seconds.
        hashing = WorkerPool(
            name: "hashing", lanes: cores, depth: 64 * cores, shares: shares,
            retryAfter: .seconds(3))
        // A signature takes half a millisecond.
        signing = WorkerPool(
            name: "signing", lanes: cores, depth: 1024 * cores, shares: shares,
            retryAfter: .seconds(1))
        // Most jobs take milliseconds. A request that reads as much as it may takes a second.
        mail = WorkerPool(
            name: "mail", lanes: cores, depth: 64 * cores, shares: shares,
            retryAfter: .seconds(1))
    }
}

extension KeyRing {
    /// The keys of a store, to be opened with the master secret.
    /// - Parameter reread: reads the secret again, because the operator may have replaced it.
    convenience init(
        _ stores: Stores, _ config: Config, secret: SecretBytes,
        rereading reread: (@Sendable () throws -> SecretBytes)? = nil, pool: WorkerPool,
        clock: ServerClock = SystemClock.clocks
    ) throws {
        var rereadSealer: (@Sendable () throws -> KeySealer)?
        if let reread { rereadSealer = { try KeySealer(try reread()) } }
        self.init(
            store: stores.signingKeys, sealer: try KeySealer(secret), rereadSealer: rereadSealer,
            capabilityAlgorithm: config.tokens.capabilityAlgorithm, pool: pool,
            random: RandomBytes.make, clock: clock.now)
    }
}

extension ACMEChallenges {
    /// The ACME challenges that certbot writes into a web root; nil without a web root.
    fileprivate init?(agent: AgentAPI, in directory: String?) {
        guard let directory else { return nil }
        self.init(agent: agent) { name in
            // Such a file has about a hundred bytes.
            File.regular(at: "\(directory)/.well-known/acme-challenge/\(name)", atMost: 4_096)
        }
    }
}

extension KeySealer {
    init(_ secret: SecretBytes) throws {
        var bytes = secret.bytes
        defer { bytes.wipe() }
        try self.init(masterSecret: bytes, random: RandomBytes.make)
    }
}

extension JMAPDirectory {
    fileprivate init(_ mail: MailSection, publicURL: String) {
        self.init(
            mailStoreURL: mail.jmapURL?.text, publicURL: publicURL,
            paths: Paths(
                api: mail.jmapAPIPath, upload: mail.jmapUploadPath,
                download: mail.jmapDownloadPath, eventSource: mail.jmapEventSourcePath),
            limits: mail.jmapLimits)
    }
}

/// A wrong or missing answer of another server, or a library that is missing.
enum RemoteFailure: Sendable {
    /// A hash URL could not be fetched. Only scheme, host and port are named: the path may be
    /// private.
    case fetch(origin: String, cause: String)
    /// A hash URL leads to a forbidden address.
    case forbiddenAddress(origin: String, cause: String)
    /// The hash that a URL served could not be computed.
    case servedHash(cause: String)
    /// The mail store gave no session object that clients can use.
    case mailStore(origin: String, cause: String)
    /// The mail store did not do what it was asked for an account.
    case mailRequest(origin: String, cause: String)
    /// A domain could not be looked up in the DNS.
    case lookUp(name: String, cause: String)
    /// An identity provider did not say who somebody is.
    case provider(name: String, cause: String)
    /// There is no QR code of a secret for one-time codes; users type it in.
    case qrCode(cause: String)
    /// A message to a user could not be sent.
    case mailer(MailQueue.Report, relay: String)
}

/// The application that answers requests now.
final class CurrentApplication: Sendable {
    private let state: Mutex<Application>

    init(_ application: Application) { state = Mutex(application) }

    var value: Application { state.withLock { $0 } }

    func replace(_ application: Application) { state.withLock { $0 = application } }
}
