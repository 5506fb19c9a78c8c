internal import ArgumentParser

/// `postern check-config`: the effective settings, or everything that is wrong with them.
struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the effective settings, or everything that is wrong with them.",
        discussion: """
            Each setting is printed as TOML with its source: a line of the file, a variable, a \
            flag, or "default". Exits with 0 when the configuration is good, 78 when it is not.

            Examples:
              postern check-config
              postern check-config --config /etc/postern.toml --profile production
              POSTERN_SERVER_PORT=9000 postern check-config
            """)

    @OptionGroup var options: ConfigOptions

    func run() throws {
        let listing = try options.load().listing
        do {
            try Output.deliver(listing)
        } catch {
            Output.complain("\(error)")
            throw Exit.code(for: error)
        }
    }
}
