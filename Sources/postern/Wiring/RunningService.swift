internal import AuthCore
internal import Configuration
internal import HTTPEngine
internal import Logging
internal import Scheduling

/// A server that has started. It must be stopped.
///
/// It is a class, because copying a value with so many parts takes much code.
final class RunningService: Sendable {
    /// The URL of the first public listener.
    let address: String
    let publicURL: String
    /// Where local mail is received by SMTP, if it is.
    let smtpAddress: String?
    /// For the log.
    let metadata: Logger.Metadata
    let server: Server
    private let current: CurrentApplication
    private let listeners: ListenerServices
    private let certificates: Certificates?
    let background: Task<Void, Never>
    let draining: AtomicFlag
    let events: SecurityEvents
    let drainDelay: Duration

    init(
        address: String, publicURL: String, smtpAddress: String?, metadata: Logger.Metadata,
        current: CurrentApplication, listeners: ListenerServices, certificates: Certificates?,
        server: Server, background: Task<Void, Never>, draining: AtomicFlag,
        events: SecurityEvents, drainDelay: Duration
    ) {
        self.address = address
        self.publicURL = publicURL
        self.smtpAddress = smtpAddress
        self.metadata = metadata
        self.current = current
        self.listeners = listeners
        self.certificates = certificates
        self.server = server
        self.background = background
        self.draining = draining
        self.events = events
        self.drainDelay = drainDelay
    }

    /// The one that answers requests now.
    var application: Application { current.value }

    /// In the test profile: the fixtures of the present application.
    var fixtures: TestFixtures? { listeners.fixtures(of: application) }

    /// Continues with other settings and with the certificates that are in the files now. Only
    /// reloadable settings may differ (``Setting/isReloadable``). Called by one task at a time.
    /// - Throws: why something cannot be used; then nothing has changed.
    func apply(_ config: Config) async throws {
        // All files, such as secrets, are read before anything changes.
        let next = try await application.applying(config)
        try certificates?.reload()
        await server.replace(listeners.services(of: next, config))
        current.replace(next)
    }

    /// The graceful stop: report "not ready" to load balancers, close the listener, wait for the
    /// requests in flight, close the database.
    /// - Parameter reloading: the task that calls ``apply(_:)``. It may use the database until it
    ///   has ended.
    /// - Returns: what the connections were waiting for that had to be cut off; `nil` if there was
    ///   none.
    @discardableResult
    func stop(_ reloading: Task<Void, Never>? = nil) async -> String? {
        reloading?.cancel()
        background.cancel()
        // This comes before `/readyz` answers 503, because the client that reads the 503 must not
        // keep its connection.
        await server.beginDraining()
        draining.set()
        // A cancelled sleep only makes the stop quicker.
        try? await Task.sleep(for: drainDelay)
        server.stopAccepting()
        let unanswered = await server.drain()
        await background.value
        await reloading?.value
        events.flush()
        await application.close()
        guard !unanswered.isEmpty else { return nil }
        return unanswered.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            .joined(separator: ", ")
    }
}
