internal import ArgumentParser
internal import AuthCore
internal import AuthStorage
internal import Configuration
internal import Platform

/// The options of every command that reads the configuration.
///
/// Their values stay text here, so that a wrong value is reported together with all other faults of
/// the configuration.
struct ConfigOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration file (default: \(ConfigFile.standardPath), if it exists).",
            valueName: "file"),
        completion: .file())
    var config: String?

    @Option(
        name: .long,
        help: ArgumentHelp("development, test or production; changes defaults.", valueName: "name"),
        completion: .list(Profile.allCases.map(\.rawValue)))
    var profile: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The directory of the database and the master secret.", valueName: "directory"),
        completion: .directory)
    var data: String?

    /// - Parameter more: the options that only this command has.
    /// - Throws: `ExitCode` 78 (EX_CONFIG) after all faults have been printed.
    func load(_ more: [ConfigLoader.Flag] = []) throws -> LoadedConfig {
        try Self.load(loader(more))
    }

    /// - Parameter more: the options that only this command has.
    func loader(_ more: [ConfigLoader.Flag]) -> ConfigLoader {
        var loader = ConfigLoader(path: config, environment: Process.environment)
        loader.flags = more
        if let profile {
            loader.flags.append(.init(key: "profile", name: "--profile", value: profile))
        }
        if let data {
            loader.flags.append(.init(key: "storage.directory", name: "--data", value: data))
        }
        return loader
    }

    /// - Throws: `ExitCode` 78 (EX_CONFIG) after all faults have been printed.
    static func load(_ loader: ConfigLoader) throws -> LoadedConfig {
        do {
            let loaded = try loader.load()
            // Before any secret is read.
            if loaded.config.profile == .production { Process.forbidCoreDumps() }
            return loaded
        } catch {
            Output.message(error.description)
            throw Exit.misconfigured
        }
    }

    /// Checks that a command can use the configured database, before it asks for a password.
    func checkDatabase(creating: Bool = false) throws {
        _ = try load().config.databaseOnDisk(mayBeMissing: creating)
    }

    /// Opens the configured database for a command and closes it after `body`. A server may use it
    /// at the same time. An error is printed once and ends the command.
    /// - Parameter creating: `true` for commands that may run before the first start of the server.
    ///   A message is printed when a database was created.
    func withStore(
        creating: Bool = false, _ body: (Stores, Config) async throws -> Void
    ) async throws {
        let config = try load().config
        let database = try config.databaseOnDisk(mayBeMissing: creating)
        let isNew = database.isMissing
        do {
            try MasterSecret.checkDatabase(of: config)
            let stores = try await database.open(at: SystemClock.now())
            if isNew { Output.message("created the database \(database.name)") }
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
            Output.message("\(error)")
            throw Exit.code(for: error)
        }
    }
}

extension Config {
    /// The database of a command that runs in another process than the server.
    /// - Parameter mayBeMissing: `false` for commands that read or change what exists. With a
    ///   misspelt directory they would find an empty database.
    /// - Throws: `ExitCode` 78 after the reason has been printed.
    func databaseOnDisk(mayBeMissing: Bool = false) throws -> Database {
        guard !database.isInMemory else {
            Output.message(
                "storage.url is \"sqlite::memory:\" (the default of the test profile). Such a"
                    + " database belongs to one process and ends with it: this command cannot reach"
                    + " the database of a running server, and what it wrote would be lost. Use a"
                    + " database file for the server and this command: --data <directory>, or"
                    + " storage.url = \"sqlite:<path>\".")
            throw Exit.misconfigured
        }
        guard mayBeMissing || !database.isMissing else {
            Output.message(
                "there is no database \(database.name); name its directory with --data,"
                    + " or create it with `postern serve` or `postern migrate`")
            throw Exit.misconfigured
        }
        return database
    }
}

/// Calls `body` for every item of a list that a store returns in pages. A long list is never in
/// memory as a whole.
/// - Parameters:
///   - key: the key that the list is ordered by.
///   - page: returns the items after a key (from the first when it is `nil`), at most the given
///     number.
func forEach<Item, Key>(
    by key: (Item) -> Key, in page: (Key?, Int) async throws -> [Item],
    _ body: (Item) async throws -> Void
) async throws {
    let size = 500
    var last: Key?
    while true {
        let items = try await page(last, size)
        for item in items { try await body(item) }
        last = items.last.map(key)
        if items.count < size { return }
    }
}
