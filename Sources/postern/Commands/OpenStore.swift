internal import ArgumentParser
internal import AuthCore
internal import AuthStorage

extension ConfigOptions {
    /// Opens the configured database for an operator's command, whether or not a server runs on it.
    ///
    /// What goes wrong inside is said once, and ends the command.
    /// - Parameter makesOne: for what is added before the first start; where there was no database
    ///   the operator is told that there is one now.
    func withStore(
        makesOne: Bool = false, _ body: (Stores, Config) async throws -> Void
    ) async throws {
        let config = try load().config
        let database = try config.databaseOnDisk(mayBeMissing: makesOne)
        let isNew = database.isMissing
        do {
            let stores = try await database.open(at: SystemClock.now())
            if isNew { Output.complain("made the database \(database.name): there was none") }
            do {
                try await body(stores, config)
            } catch {
                await stores.close()
                throw error
            }
            await stores.close()
        } catch let code as ExitCode {
            throw code
        } catch {
            Output.complain("\(error)")
            throw Exit.code(for: error)
        }
    }
}

extension Config {
    /// The database of a command beside the server's.
    /// - Parameter mayBeMissing: `false` for what looks at a database or changes what is in it:
    ///   with a misspelt directory it would say that there is nothing.
    /// - Throws: `ExitCode` 78 once it has been said why there is none.
    func databaseOnDisk(mayBeMissing: Bool = false) throws -> Database {
        guard !database.isInMemory else {
            Output.complain("the database is in memory: another process cannot reach it")
            throw Exit.misconfigured
        }
        guard mayBeMissing || !database.isMissing else {
            Output.complain(
                "there is no database \(database.name); name its directory with --data,"
                    + " or make it with `postern serve` or `postern migrate`")
            throw Exit.misconfigured
        }
        return database
    }
}
