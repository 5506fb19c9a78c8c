internal import ArgumentParser
internal import Configuration
internal import Glibc
internal import Platform

/// `postern parse-toml`: a server runs it before it reads its configuration again (``TOMLTrial``).
/// Not for users.
struct ParseTOMLCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: TOMLTrial.command,
        abstract: "Parse TOML from standard input; the exit code is 0 unless the parser gives up.",
        discussion: """
            A server runs this before it reads its configuration again.

            Example:
              postern parse-toml <config/postern.toml
            """,
        shouldDisplay: false)

    func run() throws {
        // The server waits for it.
        alarm(10)
        let text = try File.bytes(from: STDIN_FILENO, atMost: ConfigFile.maximumBytes)
        _ = ConfigFile.layer(of: String(decoding: text, as: UTF8.self), path: "")
    }
}
