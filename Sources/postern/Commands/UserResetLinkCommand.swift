internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Platform

/// `postern user reset-link`: for a user who has forgotten the password.
struct UserResetLinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset-link",
        abstract: "Print a link with which a user sets a new password.",
        discussion: """
            The link can be used once, within 30 minutes. Using it ends all sessions of the user \
            and leaves passkeys and one-time codes as they are. Whoever has the link can set the \
            password: make sure that it is the user who asks for it, and give it to nobody else. \
            It works without a relay for mail, too.

            Examples:
              postern user reset-link ada@example.com
            """)

    @OptionGroup var options: ConfigOptions
    @Argument(help: "The user's email address.", transform: parseEmail) var email: Email

    func run() async throws {
        try await withUser(email, options) { stores, user, config in
            guard let publicURL = config.publicURLOfCommands else {
                Output.message(
                    "set server.public_url: this command cannot know the port that a server with"
                        + " server.port = 0 has got")
                throw ExitCode.failure
            }
            guard user.state == .active else {
                Output.message("\(email) is disabled; enable it first")
                throw ExitCode.failure
            }
            let token = try await EmailLinks.makeReset(
                of: user, in: stores.emailLinks, random: RandomBytes.make,
                recording: .byOperator(.resetLinkCreated, email))
            guard let token else {
                Output.message("\(email) was changed by another process meanwhile; try again")
                throw ExitCode.failure
            }
            Output.print(token.url(for: .operatorReset, on: publicURL))
            return true
        }
    }
}
