// postern: the program.
//
// Owns the commands, the doctor, the log, the metrics, and the assembly of the modules into a
// server. It never decides about accounts, challenges or tokens: the modules have these rules.

internal import AgentClient
internal import ArgumentParser
internal import AuthCore
internal import AuthStorage
internal import Configuration
internal import Cryptography
internal import Platform
internal import Provisioning

/// The program, with one subcommand for each task of an operator or an agent.
struct Postern: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postern",
        abstract: "A self-hosted mail-auth server.",
        discussion: """
            Try it:
              postern serve --profile test --port 8080
              postern signup --server http://127.0.0.1:8080 --username myagent

            Settings come from the command line, the environment (POSTERN_SERVER_PORT for \
            server.port), config/postern.toml and the defaults, in this order. `postern \
            check-config` prints all of them.
            """,
        version: version,
        subcommands: [
            ServeCommand.self, CheckConfigCommand.self, MigrateCommand.self, BackupCommand.self,
            KeyCommand.self, AccountCommand.self, UserCommand.self, DomainCommand.self,
            HashLoginCommand.self, AuditCommand.self, ProvisioningCommand.self,
            SignupCommand.self, SolveCommand.self, HealthcheckCommand.self, DoctorCommand.self,
            ParseTOMLCommand.self,
        ])

    /// What `--version` prints. Every command reads it, and finding the implementations takes two
    /// milliseconds.
    private static var version: String {
        guard CommandLine.arguments.contains("--version") else { return Process.version }
        return """
            \(Process.version)
            scrypt: \(Scrypt.Kernel.best)
            argon2: \(Argon2.Kernel.best)
            """
    }

    static func main() async {
        precondition(OpenSSLMemory.isWipedWhenFreed, "OpenSSL was used before main")
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let error = unknownSubcommand(in: arguments) { exit(withError: error) }
        await main(arguments)
    }

    /// A usage error if the first arguments name a subcommand that does not exist. Without it,
    /// ArgumentParser answers `postern nosuch --help` with the help of `postern` and exit code 0.
    static func unknownSubcommand(in arguments: [String]) -> ValidationError? {
        var command: any ParsableCommand.Type = Postern.self
        var path = "postern"
        for argument in arguments.first == "help" ? arguments.dropFirst() : arguments[...] {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty || argument.hasPrefix("-") { return nil }
            guard let next = subcommands.first(where: { $0._commandName == argument }) else {
                let near = argument.nearest(among: subcommands.map { $0._commandName })
                return ValidationError(
                    "\(path) has no subcommand '\(argument.printable(limit: 100))'"
                        + (near.map { "; did you mean '\($0)'?" } ?? "."))
            }
            command = next
            path += " \(argument)"
        }
        return nil
    }
}

/// The program as the executable runs it.
package enum Program {
    package static func run() async {
        await Postern.main()
    }
}

/// The exit codes, for scripts; the numbers are those of `sysexits.h`. 0 is success, 1 a command
/// that could not do its task, 64 a wrong command line.
enum Exit {
    /// EX_UNAVAILABLE: the server, or a service that it needs, is not available.
    static let unavailable = ExitCode(69)
    /// EX_CONFIG: the configuration, the database or the master secret cannot be used as it is.
    static let misconfigured = ExitCode(78)

    static func code(for error: any Error) -> ExitCode {
        switch error {
        case is ErrorResponse, is SignupError, is ChallengeError, is DomainCommandError,
            is BackupError, is CopyError, is RotationError, is KeyDirectoryError, is FeedError,
            StorageError.hasItsOwnBackup:
            .failure
        case let error as StorageError where error.isDamage: misconfigured
        case is MasterSecretError, is UnreadableKey, is MigrationError, is SubjectError,
            is DatabaseURLError, is ServicesListenerError, is ProvisioningError,
            is CertificateError:
            misconfigured
        default: unavailable
        }
    }
}
