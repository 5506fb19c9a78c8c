/// All stores of one database, opened together.
///
/// AuthStorage opens them from a URL. The program, its commands and the tests know the database
/// only through this type. A test that needs one store to fail replaces that property.
public struct Stores: Sendable {
    public var accounts: any AccountStore
    public var accountDirectory: any AccountDirectory
    public var accountFeed: any AccountFeed
    public var deliveries: any DeliveryQueue
    public var users: any UserStore
    public var userDirectory: any UserDirectory
    public var userSessions: any UserSessionStore
    public var passkeys: any PasskeyStore
    public var secondFactors: any SecondFactorStore
    public var identities: any IdentityStore
    public var emailLinks: any EmailLinkStore
    public var holdings: any HoldingStore
    public var apiTokens: any APITokenStore
    public var domains: any DomainStore
    public var domainDirectory: any DomainDirectory
    public var hashLogins: any HashLoginStore
    public var hashLoginDirectory: any HashLoginDirectory
    public var challenges: any ChallengeLedger
    public var audit: any AuditLog
    public var webhooks: any WebhookStore
    public var webhookQueue: any WebhookQueue
    public var signingKeys: any SigningKeyStore
    public var resettable: any ResettableStore

    /// Returns once the database has answered a quick query of the tables that logins need, for
    /// readiness checks. Throws ``StoreBusy`` when the database is locked, and another error when
    /// it is broken or does not answer in time.
    public var ping: @Sendable () async throws -> Void

    /// Runs `work` unless another server on the database is doing the same task now.
    ///
    /// Two servers may nevertheless run the task at once: one may begin it while another, whose
    /// connection is lost, has not ended it yet.
    /// - Parameter task: the same name on every server.
    /// - Returns: `false` when another server is doing it.
    public var exclusively:
        @Sendable (_ task: String, _ work: @Sendable () async throws -> Void) async throws -> Bool

    /// What the database has done for this process. Asks only this process.
    public var statistics: @Sendable () -> StoreStatistics

    /// Closes every connection. Later calls of any store throw.
    public var close: @Sendable () async -> Void

    /// - Parameter engine: implements every store protocol.
    public init<Engine>(
        _ engine: Engine, statistics: @escaping @Sendable () -> StoreStatistics,
        ping: @escaping @Sendable () async throws -> Void,
        exclusively:
            @escaping @Sendable (
                _ task: String, _ work: @Sendable () async throws -> Void
            ) async throws -> Bool,
        close: @escaping @Sendable () async -> Void
    )
    where
        Engine: AccountStore & AccountDirectory & AccountFeed & DeliveryQueue & UserStore
            & UserDirectory & UserSessionStore & PasskeyStore & SecondFactorStore & IdentityStore
            & EmailLinkStore
            & HoldingStore & APITokenStore & DomainStore & DomainDirectory & HashLoginStore
            & HashLoginDirectory & ChallengeLedger & AuditLog & WebhookStore & WebhookQueue
            & SigningKeyStore & ResettableStore
    {
        accounts = engine
        accountDirectory = engine
        accountFeed = engine
        deliveries = engine
        users = engine
        userDirectory = engine
        userSessions = engine
        passkeys = engine
        secondFactors = engine
        identities = engine
        emailLinks = engine
        holdings = engine
        apiTokens = engine
        domains = engine
        domainDirectory = engine
        hashLogins = engine
        hashLoginDirectory = engine
        challenges = engine
        audit = engine
        webhooks = engine
        webhookQueue = engine
        signingKeys = engine
        resettable = engine
        self.statistics = statistics
        self.ping = ping
        self.exclusively = exclusively
        self.close = close
    }
}

/// The operations of a test suite between two tests.
public protocol ResettableStore: Sendable {
    /// Removes everything but the signing keys, in one transaction and without an event. Events
    /// that follow have higher numbers than those that were removed.
    func removeEverything() async throws
}

/// The reports of an open database. Called on the database's own queues: a callback must return at
/// once and must not call a store.
public struct StoreObservers: Sendable {
    /// Called with every event that this process has recorded: once it is durable, and before the
    /// caller whose request caused it gets its answer.
    public var event: @Sendable (AuditEvent) -> Void

    /// Called with `true` when a write fails because the disk is full, and with `false` when a
    /// write succeeds ten seconds after the last one that failed. Not called again while nothing
    /// changes.
    public var diskFull: @Sendable (Bool) -> Void

    /// The same for a disk that fails or may not be written to: called with the cause, and with
    /// `nil` when it works again.
    public var diskFailing: @Sendable (_ cause: String?) -> Void

    /// Called with the cause when the database's server cannot be reached, and with `nil` when it
    /// can be reached again. Not called again while nothing changes.
    public var unreachable: @Sendable (_ cause: String?) -> Void

    public init(
        event: @escaping @Sendable (AuditEvent) -> Void = { _ in },
        diskFull: @escaping @Sendable (Bool) -> Void = { _ in },
        diskFailing: @escaping @Sendable (_ cause: String?) -> Void = { _ in },
        unreachable: @escaping @Sendable (_ cause: String?) -> Void = { _ in }
    ) {
        self.event = event
        self.diskFull = diskFull
        self.diskFailing = diskFailing
        self.unreachable = unreachable
    }
}
