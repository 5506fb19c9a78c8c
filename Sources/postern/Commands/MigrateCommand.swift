internal import ArgumentParser
internal import AuthStorage

/// `postern migrate`: brings the schema of the database up to date.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the database schema up to date; `postern serve` does this when it starts.",
        discussion: """
            Each migration runs in its own transaction. A database that a newer program has \
            migrated is rejected and not changed.

            Examples:
              postern migrate --plan
              postern migrate --data /var/lib/postern
            """)

    @OptionGroup var options: ConfigOptions

    @Flag(help: "Only print the migrations that would be applied.")
    var plan = false

    func run() async throws {
        let config = try options.load().config
        guard !config.database.isInMemory else {
            Output.message("the database is in memory: there is nothing to migrate")
            throw Exit.misconfigured
        }
        do {
            let database = config.database
            let steps =
                plan
                ? try await database.migrationStatus().pending
                : try await database.migrate(at: SystemClock.now())
            for step in steps {
                Output.print("\(plan ? "would apply" : "applied") \(step.number) \(step.name)")
            }
            if steps.isEmpty { Output.print("the database is up to date") }
        } catch {
            Output.message("\(error)")
            throw Exit.code(for: error)
        }
    }
}
