internal import ArgumentParser
internal import AuthCore
internal import Platform

/// `postern hash-login`: manages the registrations of the hash-login API.
struct HashLoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hash-login",
        abstract: "List, show or delete emails that are registered for hash logins.",
        discussion: """
            An email belongs to the first person who registers it. If that is not its owner, \
            delete the registration: the owner can then register it.

            Examples:
              postern hash-login list
              postern hash-login show ada@example.com
              postern hash-login delete ada@example.com
            """,
        subcommands: [List.self, Show.self, Delete.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the registrations: email, URL of the hash, time of registration.")

        @OptionGroup var options: ConfigOptions

        func run() async throws {
            try await options.withStore { stores, _ in
                let logins = stores.hashLoginDirectory
                try await forEach(by: \.email, in: logins.hashLogins(after:limit:)) { login in
                    try Output.deliver(login.line)
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the registration of an email: URL of the hash, time of registration.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The registered email address.", transform: parseEmail) var email: Email

        func run() async throws {
            try await options.withStore { stores, _ in
                guard let login = try await stores.hashLogins.hashLogin(email: email) else {
                    throw noHashLogin(of: email)
                }
                try Output.deliver(login.line)
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract:
                "Delete a registration: its tokens end, and the email can be registered again."
        )

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The registered email address.", transform: parseEmail) var email: Email

        func run() async throws {
            try await options.withStore { stores, _ in
                guard
                    try await stores.hashLoginDirectory.deleteHashLogin(
                        of: email, recording: .byOperator(.hashLoginDeleted, email))
                else { throw noHashLogin(of: email) }
                Output.print("deleted \(email)")
            }
        }
    }
}

/// - Returns: the error to throw after the message has been printed.
private func noHashLogin(of email: Email) -> ExitCode {
    Output.message("\(email) is not registered for hash logins")
    return .failure
}

extension HashLogin {
    fileprivate var line: String { "\(email)  \(url.text.printable())  \(created.rfc3339)" }
}
