internal import ArgumentParser
internal import AuthCore

/// `postern key`: manages the signing keys.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "List, rotate or reseal the signing keys.",
        subcommands: [List.self, Rotate.self, Reseal.self])

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
                let found = try MasterSecret.find(for: config)
                let secret =
                    if let found { found } else {
                        try await MasterSecret.create(for: config, in: stores)
                    }
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

extension KeyCommand {
    struct Reseal: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Encrypt the stored signing keys under another master secret.",
            discussion: """
                Encrypts every key in one transaction: after an error or a crash all of them are \
                sealed either under the old secret or under the new one. The keys themselves, and \
                the tokens that they have signed, stay valid. Afterwards put the new file in the \
                place of the old one. Running servers go on with the keys that they have, and \
                read the new secret there as soon as it is in place; a server that starts before \
                that ends with an error.

                The new file holds 32 random bytes or 64 hex digits and may be read by its owner \
                only (mode 0600).

                Example:
                  head -c 32 /dev/urandom > new.secret && chmod 600 new.secret
                  postern key reseal --new-secret-file new.secret
                  mv new.secret data/master.secret
                """)

        @OptionGroup var options: ConfigOptions

        @Option(
            help: ArgumentHelp("The file with the new master secret.", valueName: "file"))
        var newSecretFile: String

        func run() async throws {
            try await options.withStore { stores, config in
                let old = try KeySealer(try MasterSecret.reread(for: config))
                let new = try KeySealer(try MasterSecret.read(newSecretFile, isOurs: true))
                let count = try await new.resealAll(
                    in: stores.signingKeys, from: old, at: SystemClock.now())
                Output.print(
                    "\(count) keys are sealed under the secret in \(newSecretFile); now put it in"
                        + " the place of \(MasterSecret.path(for: config))")
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
