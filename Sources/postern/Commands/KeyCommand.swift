internal import ArgumentParser
internal import AuthCore

/// `postern key`: the signing keys.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "List or rotate the signing keys.",
        subcommands: [List.self, Rotate.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the keys: use, id, when made, until when a retired one verifies.")

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
            abstract: "Make a new signing key; the old one goes on verifying what it signed.",
            discussion: """
                Running servers on the same database take the new key up within a minute. A key \
                that others verify with (capability, login) is published at once and signs six \
                minutes later, when caches of the key set have it. The old one verifies as long \
                as the longest-lived token that it may have signed.

                A key that has leaked must not live on: --leaked ends it at once, and with it \
                everything that it signed.

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

        @Flag(help: "End the old key, and everything that it signed, at once.")
        var leaked = false

        func run() async throws {
            try await options.withStore { stores, config in
                let secret = try MasterSecret.find(for: config)
                let keys = try KeyRing(stores, secret: secret, workers: Pools().signing)
                // A key that the other secret cannot open must not be retired by one that it can.
                try await keys.refresh()
                let grace = leaked ? .zero : config.longestLifetime(of: use)
                let id = try await keys.rotate(use, grace: grace)
                Output.print("\(use.rawValue)  \(id)")
            }
        }
    }
}

extension Config {
    /// How long after its retirement a key may still be asked to verify: the longest life of what
    /// it signs, counted from when the slowest server has stopped signing with it.
    func longestLifetime(of use: KeyUse) -> Duration {
        let lifetime =
            switch use {
            case .agent: max(tokens.sessionLifetime, pow.agentLifetime)
            case .accounts: max(tokens.accountLifetime, pow.accountsLifetime)
            case .capability: tokens.capabilityLifetime
            case .login: HashLoginAuth.Settings(hashLogin).tokenLifetime
            }
        return lifetime + Duties.keyRefresh * 2
    }
}
