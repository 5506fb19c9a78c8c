internal import ArgumentParser
internal import AuthStorage

/// `postern migrate`: brings the database to the shape that this program knows.
struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the database up to date; serve does so itself.",
        discussion: """
            Each migration runs in a transaction of its own. A database that a newer program has \
            migrated is refused and left as it is.

            Examples:
              postern migrate --plan
              postern migrate --data /var/lib/postern
            """)

    @OptionGroup var options: ConfigOptions

    @Flag(help: "Only say what would be done.")
    var plan = false

    func run() async throws {
        let config = try options.load().config
        guard !config.database.isInMemory else {
            Output.complain("the database is in memory: there is nothing to migrate")
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
            Output.complain("\(error)")
            throw Exit.code(for: error)
        }
    }
}
