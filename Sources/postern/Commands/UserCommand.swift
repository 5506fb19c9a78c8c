internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Platform

/// `postern user`: manages the Pro users.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: """
            Add, list, disable or enable Pro users, change a password, remove factors, make a link \
            to set a new password.
            """,
        discussion: """
            On a terminal the command asks for a password twice. With --password-stdin the \
            password is the first line of standard input. No option takes a password, because \
            other users of the machine can read command lines.

            Examples:
              postern user add ada@example.com
              postern user add ada@example.com --password-stdin < password.txt
              postern user disable ada@example.com
              postern user list
            """,
        subcommands: [
            Add.self, List.self, Disable.self, Enable.self, Password.self,
            UserFactorsCommand.self, UserUnlinkCommand.self, UserResetLinkCommand.self,
        ])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Add a Pro user.")

        @OptionGroup var options: ConfigOptions
        @OptionGroup var password: PasswordOptions
        @Argument(help: "The user's email address.", transform: parseEmail) var email: Email

        func run() async throws {
            try options.checkDatabase(creating: true)
            let secret = try password.read()
            try await options.withStore(creating: true) { stores, config in
                let user = try await explaining {
                    try await UserRegistrar(stores, config).add(
                        email, password: secret, for: nil,
                        recording: .byOperator(.userCreated, email))
                }
                Output.print("added \(email)  \(user.id)")
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: """
                List the users: email, id, state, time added, whether there is a password, the \
                identity providers.
                """)

        @OptionGroup var options: ConfigOptions

        func run() async throws {
            try await options.withStore { stores, _ in
                let users = stores.userDirectory
                try await forEach(by: \.email, in: users.users(after:limit:)) { user in
                    let identities = try await stores.identities.identities(of: user.id)
                    try Output.deliver(
                        "\(user.email)  \(user.id)  \(user.state.rawValue)  \(user.created.rfc3339)"
                            + (user.password == nil ? "  no-password" : "  password")
                            + identities.map { "  \($0.provider)" }.joined()
                    )
                }
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Lock a user: password, Pro JWTs and API tokens are rejected from now on.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The user's email address.", transform: parseEmail) var email: Email

        func run() async throws {
            try await setState(of: email, to: .disabled, recording: .userDisabled, options)
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Unlock a user: password and API tokens are accepted again, old JWTs are not."
        )

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The user's email address.", transform: parseEmail) var email: Email

        func run() async throws {
            try await setState(of: email, to: .active, recording: .userEnabled, options)
        }
    }

    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "passwd",
            abstract:
                "Change a user's password. All Pro JWTs become invalid; API tokens stay valid.")

        @OptionGroup var options: ConfigOptions
        @OptionGroup var password: PasswordOptions
        @Argument(help: "The user's email address.", transform: parseEmail) var email: Email

        func run() async throws {
            try options.checkDatabase()
            let secret = try password.read()
            try await withUser(email, options) { stores, user, config in
                guard user.state == .active else {
                    Output.message("\(email) is disabled; enable it first")
                    throw ExitCode.failure
                }
                let changed = try await explaining {
                    try await UserRegistrar(stores, config).setPassword(
                        of: user, to: secret, for: nil,
                        recording: .byOperator(.credentialReset, email))
                }
                guard changed else {
                    Output.message("\(email) was changed by another process meanwhile; try again")
                    throw ExitCode.failure
                }
                Output.print("changed the password of \(email)")
                return true
            }
        }
    }
}

/// Prints why a user or a password was rejected.
private func explaining<T>(_ change: () async throws -> T) async throws -> T {
    do {
        return try await change()
    } catch AccountsError.emailTaken {
        Output.message("there is already a user with this email")
    } catch AccountsError.passwordTooShort {
        Output.message("a user's password has at least 8 characters")
    } catch AccountsError.passwordTooCommon {
        Output.message("the password is one of the most common ones, or the user's email")
    }
    throw ExitCode.failure
}

func parseEmail(_ text: String) throws -> Email {
    guard let email = Email(parsing: text) else {
        throw ValidationError("\(text.printable()) is not an email address.")
    }
    return email
}

extension UserRegistrar {
    fileprivate init(_ stores: Stores, _ config: Config) {
        self.init(
            users: stores.users, hasher: PasswordHasher(config.passwords, Pools()),
            random: RandomBytes.make
        )
    }
}

private func setState(
    of email: Email, to state: User.State, recording kind: AuditEvent.Kind,
    _ options: ConfigOptions
) async throws {
    try await withUser(email, options) { stores, user, _ in
        let isChanged = try await stores.userDirectory.setState(
            of: user.id, to: state, recording: .byOperator(kind, email))
        guard isChanged else { return false }
        Output.print("\(state == .active ? "enabled" : "disabled") \(email)")
        return true
    }
}

/// - Parameter change: returns `false` when the user was removed meanwhile.
func withUser(
    _ email: Email, _ options: ConfigOptions,
    change: (Stores, User, Config) async throws -> Bool
) async throws {
    try await options.withStore { stores, config in
        if let user = try await stores.users.user(email: email),
            try await change(stores, user, config)
        {
            return
        }
        Output.message("there is no user \(email)")
        throw ExitCode.failure
    }
}
