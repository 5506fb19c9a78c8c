internal import ArgumentParser
internal import AuthCore
internal import Cryptography

/// `postern user`: the Pro users.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "Add, list, disable or enable Pro users, or give one a new password.",
        discussion: """
            A password is asked for twice on a terminal; with --password-stdin it is the first \
            line of standard input. It never stands on a command line, where others could read \
            it.

            Examples:
              postern user add ada@example.com
              postern user add ada@example.com --password-stdin < password.txt
              postern user disable ada@example.com
              postern user list
            """,
        subcommands: [Add.self, List.self, Disable.self, Enable.self, Password.self])

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a Pro user.")

        @OptionGroup var options: ConfigOptions
        @OptionGroup var password: PasswordOptions
        @Argument(help: "The user's email address.", transform: parseEmail) var email: Email

        func run() async throws {
            let secret = try password.read()
            try await options.withStore(makesOne: true) { stores, config in
                do {
                    let user = try await UserRegistrar(stores, config).add(
                        email, password: secret, recording: .byOperator(.userCreated, email))
                    Output.print("added \(email)  \(user.id)")
                } catch Refusal.emailTaken {
                    Output.complain("there is a user \(email) already")
                    throw ExitCode.failure
                }
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the users: email, id, state, when added.")

        @OptionGroup var options: ConfigOptions

        func run() async throws {
            try await options.withStore { stores, _ in
                try await forEach(by: \.email, in: stores.userDirectory.users(after:limit:)) {
                    user in
                    try Output.deliver(
                        "\(user.email)  \(user.id)  \(user.state.rawValue)  \(user.created.rfc3339)"
                    )
                }
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lock a user: password, Pro JWTs and API tokens are refused from now on.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The user's email address.", transform: parseEmail) var email: Email

        func run() async throws {
            try await options.setState(of: email, to: .disabled, recording: .userDisabled)
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Unlock a user: password and API tokens are good again, old JWTs stay dead.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "The user's email address.", transform: parseEmail) var email: Email

        func run() async throws {
            try await options.setState(of: email, to: .active, recording: .userEnabled)
        }
    }

    struct Password: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "passwd",
            abstract: "Give a user a new password; every Pro JWT is dead, API tokens stay.")

        @OptionGroup var options: ConfigOptions
        @OptionGroup var password: PasswordOptions
        @Argument(help: "The user's email address.", transform: parseEmail) var email: Email

        func run() async throws {
            let secret = try password.read()
            try await options.withUser(email) { stores, user, config in
                guard user.state == .active else {
                    Output.complain("\(email) is disabled; enable it first")
                    throw ExitCode.failure
                }
                let changed = try await UserRegistrar(stores, config).setPassword(
                    of: user, to: secret, recording: .byOperator(.credentialReset, email))
                guard changed else {
                    Output.complain("\(email) was changed by somebody else meanwhile; try again")
                    throw ExitCode.failure
                }
                Output.print("changed the password of \(email)")
                return true
            }
        }
    }
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

extension ConfigOptions {
    fileprivate func setState(
        of email: Email, to state: User.State, recording kind: AuditEvent.Kind
    ) async throws {
        try await withUser(email) { stores, user, _ in
            let event = AuditEvent.byOperator(kind, email)
            guard try await stores.userDirectory.setState(of: user.id, to: state, recording: event)
            else {
                return false
            }
            Output.print("\(state == .active ? "enabled" : "disabled") \(email)")
            return true
        }
    }

    /// - Parameter change: `false` when the user went away meanwhile.
    fileprivate func withUser(
        _ email: Email, change: (Stores, User, Config) async throws -> Bool
    ) async throws {
        try await withStore { stores, config in
            if let user = try await stores.users.user(email: email),
                try await change(stores, user, config)
            {
                return
            }
            Output.complain("there is no user \(email)")
            throw ExitCode.failure
        }
    }
}
