internal import AuthAPI
internal import AuthCore
internal import AuthStorage
internal import Cryptography
internal import HTTPEngine
internal import Scheduling

/// Everything that answers requests, assembled from a configuration: stores, keys, use cases and
/// routes.
///
/// Owns the stores; the caller must call ``close()``.
struct Application: Sendable {
    let stores: Stores
    let keys: KeyRing
    let router: Router

    /// Opens and migrates the database and opens the stored keys. Missing keys are created in the
    /// background.
    /// - Parameters:
    ///   - publicURL: the URL that clients use for this server.
    ///   - isDraining: whether the server is stopping.
    ///   - logFetch: called with the reason why a hash URL could not be fetched. The client does
    ///     not see the reason.
    static func open(
        _ config: Config, publicURL: String, secret: SecretBytes,
        observers: StoreObservers = StoreObservers(),
        isDraining: @escaping @Sendable () -> Bool,
        logFetch: @escaping @Sendable (_ cause: String, _ origin: String) -> Void = {
            _, _ in
        }
    ) async throws -> Application {
        let stores = try await config.database.open(observers: observers, at: SystemClock.now())
        do {
            let pools = Pools()
            let keys = try KeyRing(stores, secret: secret, workers: pools.signing)
            try await keys.start()
            let tokens = TokenAuthority(
                realm: Realm(config, publicURL: publicURL), keys: keys, signers: pools.signing)
            let limiter = RateLimiter(settings: RateLimiter.Settings(config.limits))
            let agent = AgentAPI(
                auth: try AgentAuth(config, tokens, stores, limiter, pools), publicURL: publicURL,
                jmap: JMAPDirectory(config.mail, publicURL: publicURL), limiter: limiter,
                clock: SystemClock.now)
            let surfaces = Surfaces(
                agent: agent,
                accounts: AccountsAPI(
                    auth: AccountsAuth(config, tokens, stores, limiter, pools), limiter: limiter,
                    clock: SystemClock.now),
                hashLogin: HashLoginAPI(
                    auth: HashLoginAuth(config, tokens, stores, pools, logFetch), keys: keys,
                    publicURL: publicURL, limiter: limiter, clock: SystemClock.now),
                discovery: DiscoveryAPI(
                    agent: agent, keys: keys, difficulty: config.pow.agentDifficulty,
                    bodyLimit: config.server.engine.bodyBytes, clock: SystemClock.now),
                operations: OperationsAPI(
                    agent: agent, isDraining: isDraining, pingDatabase: stores.ping))
            let router = Router(groups: allRoutes(surfaces), fallback: surfaces.fallback)
            return Application(stores: stores, keys: keys, router: router)
        } catch {
            await stores.close()
            throw error
        }
    }

    func close() async {
        await stores.close()
    }
}

/// The pools that slow work runs on.
struct Pools: Sendable {
    let hashing: PoolWorkers
    let signing: PoolWorkers

    init(cores: Int = Process.processorCount) {
        // 50 ms apiece: the last of the queue waits about three seconds.
        hashing = PoolWorkers(
            pool: WorkerPool(name: "hashing", lanes: cores, depth: 64 * cores),
            retryAfter: .seconds(3))
        // Half a millisecond apiece.
        signing = PoolWorkers(
            pool: WorkerPool(name: "signing", lanes: cores, depth: 1024 * cores),
            retryAfter: .seconds(1))
    }
}

extension KeyRing {
    /// The keys of a store, to be opened with the master secret.
    convenience init(_ stores: Stores, secret: SecretBytes, workers: any Workers) throws {
        self.init(
            store: stores.signingKeys,
            sealer: try KeySealer(masterSecret: secret.bytes, random: RandomBytes.make),
            workers: workers, random: RandomBytes.make, clock: SystemClock.now)
    }
}

extension JMAPDirectory {
    fileprivate init(_ mail: MailSection, publicURL: String) {
        self.init(
            mailStoreURL: mail.jmapURL?.text, publicURL: publicURL,
            paths: Paths(
                api: mail.jmapAPIPath, upload: mail.jmapUploadPath,
                download: mail.jmapDownloadPath, eventSource: mail.jmapEventSourcePath))
    }
}
