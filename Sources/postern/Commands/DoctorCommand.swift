internal import ArgumentParser
internal import AuthCore
internal import AuthStorage
internal import Configuration
internal import Platform

/// `postern doctor`: checks what a server needs, and says what to do.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract:
            "Check the database, keys, files, the clock, the DNS, the mail store, the providers.",
        discussion: """
            Checks everything that a server with this configuration needs. It can run beside the \
            server and changes nothing. Each line begins with ok, warning or failed, and says \
            what to do.

              configuration   the warnings of `postern check-config`
              files           who may read the data directory, the database and the secrets
              certificate     that a server can use those of tls.certificates, and for how long
              database        SQLite: integrity and schema; PostgreSQL: that it answers, schema, \
            clock
              signing keys    that the master secret decrypts each of them
              exported keys   that keys.export_directory has the present keys
              clock           that it is not before the newest event
              domains         the DNS records of verified domains of users
              mail store      that mail.jmap_url answers
              identity provider  that each of users.providers has documents that can be used
              mail relay      that mailer.host answers and accepts the account; with --mail-to, \
            that it takes a message

            A SQLite database is read as a whole, which takes long if it is large. postern.db-wal \
            cannot shrink during that time.

            The exit code is 1 when a check has failed, and otherwise 0. Warnings do not change \
            it. It is 78 if no server accepts the configuration.

            Examples:
              postern doctor --data /var/lib/postern
              postern doctor --config /etc/postern.toml --profile production
              postern doctor --config /etc/postern.toml --mail-to ada@example.com
            """)

    @OptionGroup var options: ConfigOptions

    @Option(
        name: .customLong("mail-to"),
        help: ArgumentHelp(
            "Send a test message to this email by the mail relay.", valueName: "email"),
        transform: { text in
            guard let email = Email(parsing: text) else {
                throw ValidationError("\(text) is not an email.")
            }
            return email
        })
    var mailRecipient: Email?

    func run() async throws {
        let loaded = try options.load()
        var report = Report()
        let config = loaded.config
        let warnings = loaded.warnings.map { Finding(.caution, "configuration", $0.shown) }
        report.add(
            warnings.isEmpty
                ? [Finding(.ok, "configuration", "accepted, profile \(config.profile)")] : warnings)
        report.add(FileChecks(config: config).findings())
        report.add(CertificateChecks(config: config, now: SystemClock.now()).findings())
        let database = DatabaseChecks(config: config, now: SystemClock.now)
        let network = NetworkChecks(config: config)
        let inspected = database.inspect()
        report.add(inspected.findings)
        if inspected.isUsable {
            do {
                let stores = try await config.database.open(at: SystemClock.now())
                await report.add(about: "signing keys") { try await database.keyFindings(stores) }
                await report.add(about: "exported keys") {
                    try await database.exportFindings(stores)
                }
                await report.add(about: "clock") { try await database.clockFindings(stores) }
                await report.add(about: "domains") { try await network.domainFindings(stores) }
                await stores.close()
            } catch {
                report.add([Finding(.failed, "database", "\(error)")])
            }
        }
        report.add(await network.mailStoreFindings())
        report.add(await network.providerFindings())
        report.add(await network.relayFindings(sendingTo: mailRecipient, at: SystemClock.now()))
        if report.hasFailed { throw ExitCode.failure }
    }
}

/// Prints findings as they come.
private struct Report {
    private(set) var hasFailed = false

    mutating func add(_ findings: [Finding]) {
        for finding in findings {
            Output.print(finding.line)
            if finding.outcome == .failed { hasFailed = true }
        }
    }

    /// A check that could not be made counts as failed.
    mutating func add(
        about subject: String, _ check: () async throws -> [Finding]
    ) async {
        do {
            add(try await check())
        } catch {
            add([Finding(.failed, subject, "\(error)")])
        }
    }
}
