internal import AuthCore
internal import HTTPEngine
internal import Logging

/// A server that has started. It must be stopped.
struct RunningService: Sendable {
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
