internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Platform
internal import Provisioning

/// `postern account show`: all stored facts about one account.
struct AccountShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an account: id, name at the mail store, state, owner, quota, usage.")

    @OptionGroup var options: ConfigOptions
    @Argument(help: "name@domain", transform: parseAddress) var address: Address
    @Flag(help: "Write a JSON object.") var json = false

    func run() async throws {
        try await withAccount(address, options) { stores, config, account in
            let names = MailNames(config.mail)
            if json {
                try Output.deliver(String(decoding: account.json(names), as: UTF8.self))
                return true
            }
            var owner: User?
            if let id = account.owner { owner = try await stores.users.user(id: id) }
            let lines = [
                ("address", "\(account.address)"), ("id", account.id.text),
                ("name", names.name(of: account) ?? "-"), ("state", account.state.rawValue),
                ("login", account.loginKind), ("owner", owner?.email.text ?? "-"),
                ("quota", "\(account.quota) bytes"), ("used", "\(account.used) bytes"),
                ("created", account.created.rfc3339),
            ]
            try Output.deliver(
                lines.map { name, value in
                    "\(name)\(String(repeating: " ", count: 9 - name.count))\(value)\n"
                }.joined())
            return true
        }
    }
}

/// `postern account quota`: changes how much mail an account may hold.
struct AccountQuotaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quota",
        abstract: "Set how many bytes of mail an account may hold.",
        discussion: """
            The mail store enforces the quota. It learns of a change from `postern audit follow`, \
            from the webhook (provisioning.url), or when it asks about a login.

            Examples:
              postern account quota demo@mail.test 104857600
            """)
    /// As the settings in `[accounts]`.
    static let largest: Int64 = 1 << 50

    @OptionGroup var options: ConfigOptions
    @Argument(help: "name@domain", transform: parseAddress) var address: Address
    @Argument(help: "The bytes of mail that it may hold.", transform: parseBytes) var bytes: Int64

    func validate() throws {
        guard bytes <= Self.largest else {
            throw ValidationError("A quota has at most \(Self.largest) bytes.")
        }
    }

    func run() async throws {
        try await withAccount(address, options) { stores, _, account in
            guard
                try await stores.accountDirectory.setQuota(
                    of: account.id, to: bytes, recording: .byOperator(.quotaChanged, address))
            else { return false }
            Output.print("the quota of \(address) is \(bytes) bytes")
            return true
        }
    }
}
