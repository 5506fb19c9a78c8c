internal import ArgumentParser

/// The flags that every command with a configuration takes.
///
/// They are text here, so that a wrong value is reported together with all other faults.
struct ConfigOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration file (default: \(ConfigFile.standardPath), if there is one).",
            valueName: "file"))
    var config: String?

    @Option(
        name: .long,
        help: ArgumentHelp("development, test or production; changes defaults.", valueName: "name"))
    var profile: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Where the database and master secret are.", valueName: "directory"))
    var data: String?

    /// - Parameter more: flags that only some commands have.
    /// - Throws: `ExitCode` 78 (EX_CONFIG) once all faults have been printed.
    func load(_ more: [ConfigLoader.Flag] = []) throws -> LoadedConfig {
        var loader = ConfigLoader(path: config, environment: ProcessEnvironment.variables)
        loader.flags = more
        if let profile {
            loader.flags.append(.init(key: "profile", name: "--profile", value: profile))
        }
        if let data {
            loader.flags.append(.init(key: "storage.directory", name: "--data", value: data))
        }
        do {
            return try loader.load()
        } catch {
            Output.complain(error.description)
            throw Exit.misconfigured
        }
    }
}
