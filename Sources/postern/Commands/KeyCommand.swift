internal import ArgumentParser
internal import AuthCore

/// `postern key`: manages the signing keys.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "List or rotate the signing keys.",
        subcommands: [List.self, Rotate.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the keys: use, id, time of creation, and the end of a retired key.")

        @OptionGroup var options: ConfigOptions

        func run() async throws {
            try await options.withStore { stores, _ in
                for key in try await stores.signingKeys.keys() {
                    let state = key.retired.map { "verifies until \($0.rfc3339)" } ?? "signs"
                    try Output.deliver(
                        "\(key.use.rawValue)  \(key.id)  \(key.created.rfc3339)  \(state)")
                }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Create a new signing key. Tokens of the old one stay valid until they expire.",
            discussion: """
                Running servers on the same database use the new key within \
                \(BackgroundTasks.keyRefresh.withUnit). A key that other programs verify with \
                (capability, login) is published at once and signs \
                \(KeyRing.publicationLead.withUnit) later, when caches of the key set \
                contain it. The old key is accepted until the last token that it has signed has \
                expired.

                If a key has leaked, use --leaked: the old key and all tokens that it has signed \
                are rejected at once, by running servers within \
                \(BackgroundTasks.keyRefresh.withUnit).

                Examples:
                  postern key rotate --use capability
                  postern key rotate --use capability --leaked
                """)

        @OptionGroup var options: ConfigOptions

        @Option(
            help:
                "agent (challenges, sessions), accounts (Email and Pro JWTs), capability or login.",
            transform: { text in
                guard let use = KeyUse(rawValue: text) else {
                    throw ValidationError("--use takes agent, accounts, capability or login.")
                }
                return use
            })
        var use: KeyUse

        @Flag(help: "Reject the old key, and all tokens that it has signed, at once.")
        var leaked = false

        func run() async throws {
            try await options.withStore { stores, config in
                let secret = try MasterSecret.find(for: config)
                let keys = try KeyRing(stores, secret: secret, pool: Pools().signing)
                // Stops when the master secret does not fit the stored keys: a key that cannot be
                // opened must not be replaced.
                try await keys.refresh()
                let grace = leaked ? .zero : config.longestLifetime(of: use)
                let id = try await keys.rotate(use, grace: grace)
                Output.print("\(use.rawValue)  \(id)")
            }
        }
    }
}

extension Config {
    /// How long a retired key must still verify: the longest lifetime of the tokens that it signs,
    /// and two minutes, after which every server has stopped signing with it, also one that could
    /// not read the database for a while.
    func longestLifetime(of use: KeyUse) -> Duration {
        let lifetime =
            switch use {
            case .agent: max(tokens.sessionLifetime, pow.agentLifetime)
            case .accounts: max(tokens.accountLifetime, pow.accountsLifetime)
            case .capability: tokens.capabilityLifetime
            case .login: HashLogins.Settings(hashLogin).tokenLifetime
            }
        return lifetime + .seconds(120)
    }
}
