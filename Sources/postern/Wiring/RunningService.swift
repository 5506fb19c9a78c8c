internal import AuthCore
internal import HTTPEngine
internal import Logging

/// A server that has started. It must be stopped.
///
/// A class, because copying a value with everything that answers requests in it takes much code.
final class RunningService: Sendable {
    /// The URL of the first public listener.
    let address: String
    let publicURL: String
    /// For the log.
    let metadata: Logger.Metadata
    let application: Application
    /// In the test profile.
    let fixtures: TestFixtures?
    let server: Server
    let background: Task<Void, Never>
    let draining: AtomicFlag
    let events: SecurityEvents
    let drainDelay: Duration

    init(
        address: String, publicURL: String, metadata: Logger.Metadata, application: Application,
        fixtures: TestFixtures?, server: Server, background: Task<Void, Never>,
        draining: AtomicFlag, events: SecurityEvents, drainDelay: Duration
    ) {
        self.address = address
        self.publicURL = publicURL
        self.metadata = metadata
        self.application = application
        self.fixtures = fixtures
        self.server = server
        self.background = background
        self.draining = draining
        self.events = events
        self.drainDelay = drainDelay
    }

    /// The graceful stop: report "not ready" to load balancers, close the listener, wait for the
    /// requests in flight, close the database.
    func stop() async {
        background.cancel()
        // Before `/readyz` answers 503: the client that reads it must not keep its connection.
        await server.beginDraining()
        draining.set()
        // A cancelled sleep only makes the stop quicker.
        try? await Task.sleep(for: drainDelay)
        server.stopAccepting()
        await server.drain()
        await background.value
        events.flush()
        await application.close()
    }
}
