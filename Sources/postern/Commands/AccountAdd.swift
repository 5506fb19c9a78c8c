internal import ArgumentParser
internal import AuthCore
internal import Cryptography

extension AccountCommand {
    /// How names get a mailbox that nobody else may give out: `postmaster`, for one.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an account with a password; the operator may give out reserved names.",
            discussion: """
                The password is asked for twice on a terminal; with --password-stdin it is the \
                first line of standard input. With --owner the account is that Pro user's, \
                beyond the limit if need be, and may be on a domain of theirs.

                Examples:
                  postern account add postmaster@mail.test
                  postern account add sales@example.com --owner ada@example.com
                """)

        @OptionGroup var options: ConfigOptions
        @OptionGroup var password: PasswordOptions
        @Argument(help: "name@domain", transform: parseAddress) var address: Address

        @Option(
            help: ArgumentHelp("The Pro user whose it is.", valueName: "email"),
            transform: parseEmail)
        var owner: Email?

        func run() async throws {
            let secret = MailboxSecret.password(try password.read())
            try await options.withStore(makesOne: true) { stores, config in
                do {
                    try await add(secret, to: stores, config)
                } catch let refusal as Refusal {
                    guard let cause = cause(of: refusal) else { throw refusal }
                    Output.complain(cause)
                    throw ExitCode.failure
                }
            }
        }

        private func add(
            _ secret: MailboxSecret, to stores: Stores, _ config: Config
        ) async throws {
            var user: User?
            if let owner {
                user = try await stores.users.user(email: owner)
                guard user != nil else { throw DomainFault.noOwner(owner) }
            }
            let registrar = MailboxRegistrar(
                stores: stores, policy: AddressPolicy(config.mail),
                hasher: PasswordHasher(config.passwords, Pools()),
                settings: AccountsSettings(config), random: RandomBytes.make)
            let account = try await registrar.add(
                address, on: try await registrar.place(of: address, for: user), secret: secret,
                owner: user, limit: nil
            ) { _ in .byOperator(.accountCreated, address) }
            Output.print("added \(address)  \(account.id)")
        }

        private func cause(of refusal: Refusal) -> String? {
            switch refusal {
            case .addressTaken: "\(address) is taken, or was until it was deleted"
            case .invalidAddress: "\(address) is not an address that a new mailbox can have"
            case .invalidDomain:
                "no account of this owner can be on \(address.domain); see postern domain list"
            default: nil
            }
        }
    }
}
