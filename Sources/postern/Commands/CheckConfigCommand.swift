internal import ArgumentParser
internal import Configuration
internal import Platform

/// `postern check-config`: prints the effective settings, or all faults of the configuration.
struct CheckConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config",
        abstract: "Print the effective settings, or all faults of the configuration.",
        discussion: """
            Each setting is printed as TOML with its source: a line of the file, a variable, a \
            option, or "default". Warnings go to standard error. The exit code is 0 for a valid \
            configuration and 78 otherwise.

            Examples:
              postern check-config
              postern check-config --config /etc/postern.toml --profile production
              POSTERN_SERVER_PORT=9000 postern check-config
            """)

    @OptionGroup var options: ConfigOptions

    func run() throws {
        let loaded = try options.load()
        for warning in loaded.startWarnings { Output.message("warning: \(warning)") }
        do {
            try Output.deliver(loaded.listing)
        } catch {
            Output.message("\(error)")
            throw Exit.code(for: error)
        }
    }
}
