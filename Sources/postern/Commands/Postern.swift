// postern: the program.
//
// Owns: the commands, the settings, the wiring of the rooms, and what the rooms are handed from
// outside: the clock, randomness, signals, files, the log. Never decides what an account, a
// challenge or a token means.

internal import ArgumentParser

/// The program: one subcommand per thing an operator or an agent does.
@main
struct Postern: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "postern",
        abstract: "A self-hosted mail-auth server.",
        discussion: """
            Try it:
              postern serve --profile test --port 8080
              postern signup --server http://127.0.0.1:8080 --username myagent

            Settings come from the command line, the environment (POSTERN_SERVER_PORT for \
            server.port), config/postern.toml and the defaults, in that order. `postern \
            check-config` shows them all.
            """,
        version: Version.text,
        subcommands: [
            Serve.self, CheckConfig.self, Migrate.self, BackupCommand.self, KeyCommand.self,
            AccountCommand.self,
            UserCommand.self, DomainCommand.self, AuditCommand.self, Signup.self, Solve.self,
            Healthcheck.self,
        ])
}

/// What this build is.
enum Version {
    static let text = "0.1.0"
}
