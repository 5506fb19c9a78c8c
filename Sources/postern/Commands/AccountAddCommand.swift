internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Platform

/// `postern account add`: creates a mailbox, also under a reserved name such as `postmaster`.
struct AccountAddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an account with a password, also under a reserved name.",
        discussion: """
            On a terminal the command asks for the password twice. With --password-stdin the \
            password is the first line of standard input. With --owner the account belongs to \
            that Pro user, even beyond the user's limit, and may be on a domain of that user.

            Examples:
              postern account add postmaster@mail.test
              postern account add sales@example.com --owner ada@example.com
            """)

    @OptionGroup var options: ConfigOptions
    @OptionGroup var password: PasswordOptions
    @Argument(help: "name@domain", transform: parseAddress) var address: Address

    @Option(
        help: ArgumentHelp("The Pro user who owns it.", valueName: "email"),
        transform: parseEmail)
    var owner: Email?

    func run() async throws {
        try options.checkDatabase(creating: true)
        let secret = MailboxSecret.password(try password.read())
        try await options.withStore(creating: true) { stores, config in
            do {
                try await add(secret, to: stores, config)
            } catch let error as AccountsError {
                guard let cause = cause(of: error) else { throw error }
                Output.message(cause)
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
            guard user != nil else { throw DomainCommandError.noOwner(owner) }
        }
        let registrar = MailboxRegistrar(
            stores: stores, policy: AddressPolicy(config.mail),
            hasher: PasswordHasher(config.passwords, Pools()),
            settings: AccountsSettings(config), random: RandomBytes.make)
        let account = try await registrar.add(
            address, on: try await registrar.domain(of: address, for: user), secret: secret,
            owner: user, limit: nil, allowsReserved: true, for: nil
        ) { _ in .byOperator(.accountCreated, address) }
        Output.print("added \(address)  \(account.id)")
    }

    private func cause(of error: AccountsError) -> String? {
        switch error {
        case .addressTaken: "\(address) is taken, or was taken by an account that was deleted"
        case .invalidAddress: "\(address) is not an address that a new account can have"
        case .invalidDomain:
            "no account of this owner can be on \(address.domain); see postern domain list"
        default: nil
        }
    }
}
