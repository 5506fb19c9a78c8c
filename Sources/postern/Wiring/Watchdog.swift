internal import HTTPEngine

/// Tells the service manager that the server lives, as often as it asked for, and only while the
/// server does: every event loop takes a turn, and the database comes back with an answer or an
/// error.
///
/// An error of the database is no reason to be restarted. A server whose database is away answers
/// 503 and recovers by itself; a new one could not start.
struct Watchdog: Sendable {
    let manager: ServiceManager
    let server: Server
    let pingDatabase: @Sendable () async throws -> Void

    /// Runs until its task is cancelled.
    func run() async {
        guard let limit = manager.watchdog else { return }
        while !Task.isCancelled {
            await server.awaitTurn()
            // See above: any end of it is a sign of life.
            try? await pingDatabase()
            manager.isAlive()
            // Ends early only when the task is cancelled.
            try? await Task.sleep(for: limit / 2)
        }
    }
}
