internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Platform
internal import Provisioning

/// `postern account`: manages the accounts.
struct AccountCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "account",
        abstract:
            "Add, list, show, disable, enable, delete or free accounts; their quota and usage.",
        discussion: """
            Examples:
              postern account add postmaster@mail.test
              postern account list
              postern account show demo@mail.test
              postern account quota demo@mail.test 104857600
              postern account disable spammer@mail.test
              postern account delete spammer@mail.test
              postern account free spammer@mail.test
              postern account usage demo@mail.test 1234567
            """,
        subcommands: [
            AccountAddCommand.self, List.self, AccountShowCommand.self, AccountQuotaCommand.self,
            Disable.self, Enable.self, Delete.self, Free.self, AccountUsageCommand.self,
        ])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the accounts: address, id, state, time of creation.")

        @OptionGroup var options: ConfigOptions
        @Flag(help: "Write each account as a JSON object, with its quota and usage.")
        var json = false

        func run() async throws {
            try await options.withStore { stores, config in
                let names = MailNames(config.mail)
                let accounts = stores.accountDirectory
                try await forEach(by: \.address, in: accounts.accounts(after:limit:)) { account in
                    guard !json else {
                        return try Output.deliver(
                            String(decoding: account.json(names), as: UTF8.self))
                    }
                    try Output.deliver(
                        "\(account.address)  \(account.id)  \(account.state.rawValue)  "
                            + account.created.rfc3339)
                }
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Lock an account: its API key and its sessions are rejected from now on.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "name@domain", transform: parseAddress) var address: Address

        func run() async throws {
            try await setState(of: address, to: .disabled, recording: .accountDisabled, options)
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract:
                "Unlock an account: its API key is accepted again, earlier sessions are not.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "name@domain", transform: parseAddress) var address: Address

        func run() async throws {
            try await setState(of: address, to: .active, recording: .accountEnabled, options)
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete an account. Its address cannot be used again until it is freed.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "name@domain", transform: parseAddress) var address: Address

        func run() async throws {
            try await withAccount(address, options) { stores, _, account in
                guard
                    try await stores.accounts.delete(
                        account.id, at: nil, recording: .byOperator(.accountDeleted, address))
                else { return false }
                Output.print("deleted \(address)")
                return true
            }
        }
    }

    struct Free: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "free",
            abstract: "Allow the address of a deleted account to be used again.")

        @OptionGroup var options: ConfigOptions
        @Argument(help: "name@domain", transform: parseAddress) var address: Address

        func run() async throws {
            try await options.withStore { stores, _ in
                let event = AuditEvent.byOperator(.addressFreed, address)
                guard try await stores.accountDirectory.free(address, recording: event)
                else {
                    Output.message("\(address) is not the address of a deleted account")
                    throw ExitCode.failure
                }
                Output.print("freed \(address)")
            }
        }
    }
}

extension AuditEvent {
    /// An event that the operator has caused with a command, at the present time.
    static func byOperator(_ kind: Kind, _ subject: some CustomStringConvertible) -> AuditEvent {
        AuditEvent(kind, time: SystemClock.now(), actor: .operator, subject: subject.description)
    }
}

func parseAddress(_ text: String) throws -> Address {
    guard let address = Address(parsing: text) else {
        throw ValidationError("\(text.printable()) is not an address.")
    }
    return address
}

private func setState(
    of address: Address, to state: Account.State, recording kind: AuditEvent.Kind,
    _ options: ConfigOptions
) async throws {
    try await withAccount(address, options) { stores, _, account in
        let isChanged = try await stores.accountDirectory.setState(
            of: account.id, to: state, recording: .byOperator(kind, address))
        guard isChanged else { return false }
        Output.print("\(state == .active ? "enabled" : "disabled") \(address)")
        return true
    }
}

/// Calls `change` with the account that has the address.
/// - Parameter change: returns `false` when the account was deleted meanwhile.
func withAccount(
    _ address: Address, _ options: ConfigOptions,
    change: (Stores, Config, Account) async throws -> Bool
) async throws {
    try await options.withStore { stores, config in
        if let account = try await stores.accounts.account(address: address),
            try await change(stores, config, account)
        {
            return
        }
        Output.message("there is no account \(address)")
        throw ExitCode.failure
    }
}
