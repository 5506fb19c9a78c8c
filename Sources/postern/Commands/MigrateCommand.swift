internal import ArgumentParser
internal import AuthStorage
internal import Configuration
internal import Platform

/// `postern migrate`: brings the schema of the database up to date, or copies a database to another
/// engine.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Bring the database schema up to date; `postern serve` does this when it starts.",
        discussion: """
            All migrations of a SQLite database run in one transaction, each of a PostgreSQL \
            database in its own. A database that a newer program has migrated is rejected and \
            not changed.

            With --from and --to a SQLite database is copied into an empty PostgreSQL database, \
            and the rows of both are compared. Stop every server first: later changes are not \
            copied. After an interruption run the same command again; no server starts on an \
            incomplete copy. The master secret is not in the database: use the same file. Every \
            user of the machine can read a command line, so keep a password in libpq's password \
            file (PGPASSFILE).

            Examples:
              postern migrate --plan
              postern migrate --data /var/lib/postern
              postern migrate --from sqlite:data/postern.db --to postgresql://postern@db/postern
            """)

    @OptionGroup var options: ConfigOptions

    @Flag(help: "Only print the migrations that would be applied.")
    var plan = false

    @Option(help: ArgumentHelp("The SQLite database to copy.", valueName: "url"))
    var from: String?

    @Option(help: ArgumentHelp("The PostgreSQL database to copy to.", valueName: "url"))
    var to: String?

    func validate() throws {
        guard (from == nil) == (to == nil) else {
            throw ValidationError("--from and --to are given together.")
        }
        guard from == nil || !plan else {
            throw ValidationError("--plan is about one database, without --from and --to.")
        }
    }

    func run() async throws {
        do {
            if let from, let to {
                try copy(try Database(url: from), to: try Database(url: to))
            } else {
                try await migrate(try options.load().config)
            }
        } catch let code as ExitCode {
            throw code
        } catch {
            Output.message("\(error)")
            throw Exit.code(for: error)
        }
    }

    private func migrate(_ config: Config) async throws {
        let database = config.database
        guard !database.isInMemory else {
            Output.message("the database is in memory: there is nothing to migrate")
            throw Exit.misconfigured
        }
        try MasterSecret.checkDatabase(of: config)
        let steps =
            plan
            ? try await database.migrationStatus().pending
            : try await database.migrate(at: SystemClock.now())
        for step in steps {
            Output.print("\(plan ? "would apply" : "applied") \(step.number) \(step.name)")
        }
        if steps.isEmpty { Output.print("the database is up to date") }
    }

    private func copy(_ source: Database, to target: Database) throws {
        var line = StatusLine.onStandardError()
        defer { line.end() }
        let copied = try source.copy(to: target, at: SystemClock.now()) { progress in
            line.show(Self.status(progress))
        }
        line.end()
        for rows in copied { Output.print("\(rows.table): \(rows.count) copied and compared") }
    }

    static func status(_ progress: CopyProgress) -> String {
        let share = progress.total > 0 ? Double(progress.rows) / Double(progress.total) : 1
        let bar = 20
        let filled = min(bar, Int(share * Double(bar)))
        return "[\(String(repeating: "#", count: filled))"
            + "\(String(repeating: ".", count: bar - filled))] \(Int(share * 100)) %, "
            + (progress.isComparing ? "comparing" : "copying")
    }
}
