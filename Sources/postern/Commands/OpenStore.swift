internal import ArgumentParser
internal import AuthStorage

extension ConfigOptions {
    /// Opens the configured database for an operator's command, whether or not a server runs on it.
    ///
    /// What goes wrong inside is said once, and ends the command.
    func withStore(
        _ body: (SQLiteStore, Config) async throws -> Void
    ) async throws {
        let config = try load().config
        guard config.databaseLocation != .memory else {
            Output.complain("the database is in memory: another process cannot reach it")
            throw Exit.misconfigured
        }
        do {
            let store = try SQLiteStore.open(config.databaseLocation, at: SystemClock.now())
            do {
                try await body(store, config)
            } catch {
                await store.close()
                throw error
            }
            await store.close()
        } catch let code as ExitCode {
            throw code
        } catch {
            Output.complain("\(error)")
            throw Exit.code(for: error)
        }
    }
}
