internal import HTTPEngine

/// Notifies the watchdog of the service manager, as often as the manager asks. It does so only
/// while the server works: every event loop runs, and the database answers or reports an error.
///
/// An error of the database must not cause a restart. Without its database a server answers 503 and
/// recovers by itself, whereas a new one could not start.
struct Watchdog: Sendable {
    let manager: ServiceManager
    let server: Server
    let pingDatabase: @Sendable () async throws -> Void

    /// Runs until its task is cancelled.
    func run() async {
        guard let limit = manager.watchdog else { return }
        while !Task.isCancelled {
            await server.awaitTurn()
            // See above: an error counts, too.
            try? await pingDatabase()
            manager.isAlive()
            // Ends early only when the task is cancelled.
            try? await Task.sleep(for: limit / 2)
        }
    }
}
