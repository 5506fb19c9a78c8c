internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Platform

/// `postern key`: manages the signing keys.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "List, rotate, export or reseal the signing keys.",
        discussion: """
            Examples:
              postern key list
              postern key rotate --use capability
              postern key export --use capability --directory keys --layout dovecot
            """,
        subcommands: [List.self, Rotate.self, KeyExportCommand.self, Reseal.self])

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the keys: use, id, algorithm, time of creation, and present use.",
            discussion: """
                What each is used for:
                  signs: it signs new tokens
                  signs until TIME: the same; the next key is already published
                  published, signs from TIME: verifiers can fetch it; it signs at that time
                  verifies until TIME: it no longer signs; its tokens are valid until then

                The algorithm is "-" if the master secret does not decrypt the key.

                Times are UTC. A key that was made with --in is listed as made \
                \(KeyUse.capability.publicationLead.withUnit) before it signs (capability, login) \
                or when it signs (agent, accounts).

                Example:
                  postern key list
                """)

        @OptionGroup var options: ConfigOptions

        func run() async throws {
            try await options.withStore { stores, config in
                // The list does not need the secret. If it cannot be read, `postern doctor` reports
                // the cause.
                let secret = try? MasterSecret.find(for: config)
                let sealer = try secret.map { try KeySealer($0) }
                let keys = try await stores.signingKeys.keys()
                let now = SystemClock.now()
                for key in keys {
                    let state = KeySchedule(of: key.use, in: keys)?.state(of: key, at: now)
                    try Output.deliver(
                        "\(key.use.rawValue)  \(key.id)  "
                            + ((try? sealer?.algorithm(of: key)) ?? "-")
                            + "  \(key.created.rfc3339)  " + (state ?? .ended).words)
                }
            }
        }
    }

    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate",
            abstract:
                "Create a new signing key. Tokens of the old one stay valid until they expire.",
            discussion: """
                Running servers on the same database know the new key within \
                \(BackgroundTasks.keyRefresh.withUnit). It depends on the use when the key signs. \
                A key that other programs verify with (capability, login) is published at once. \
                It signs \(KeyUse.capability.publicationLead.withUnit) later, when caches of the \
                key set contain it; the old key signs until then. A key of agent or accounts \
                signs at once. With --in you choose the time, for example when you restart a mail \
                store that reads keys from files. The command prints the time, and so does \
                `postern key list`.

                A new key of capability is for the algorithm of tokens.capability_algorithm. After \
                a change of that setting a server makes such a key when it starts.

                The old key is accepted until the last token that it has signed has expired. \
                Until the new key signs, its use cannot be rotated again.

                If a key has leaked, use --leaked. The new key then signs at once. Running \
                servers reject every older key of this use, and all tokens of these keys, within \
                \(BackgroundTasks.keyRefresh.withUnit).

                Examples:
                  postern key rotate --use capability
                  postern key rotate --use capability --in 10m
                  postern key rotate --use capability --leaked
                """)
        /// The longest time for which a key can be made in advance.
        static let longestDelay = Duration.seconds(30 * 86_400)

        @OptionGroup var options: ConfigOptions

        @Option(
            help:
                "agent (challenges, sessions), accounts (Email and Pro JWTs), capability or login.",
            completion: .list(KeyUse.allCases.map(\.rawValue)),
            transform: { text in
                guard let use = KeyUse(rawValue: text) else {
                    throw ValidationError("--use takes agent, accounts, capability or login.")
                }
                return use
            })
        var use: KeyUse

        @Flag(help: "Reject the old key, and all tokens that it has signed, at once.")
        var leaked = false

        @Option(
            name: .customLong("in"),
            help: ArgumentHelp(
                "When the new key signs, from now: 6m (agent, accounts: 0s) to 30d.",
                valueName: "duration"),
            transform: { text in
                guard let delay = Duration(text: text, unitRequired: true) else {
                    throw ValidationError("--in takes a number with a unit, such as 10m or 1h.")
                }
                return delay
            })
        var delay: Duration?

        func validate() throws {
            guard let delay else { return }
            if leaked { throw ValidationError("With --leaked the new key signs at once.") }
            let bounds = use.publicationLead...Self.longestDelay
            guard bounds.contains(delay) else {
                throw ValidationError(
                    "--in takes \(bounds.lowerBound.withUnit) to \(bounds.upperBound.withUnit) for"
                        + " \(use.rawValue) keys.")
            }
        }

        func run() async throws {
            try await options.withStore { stores, config in
                let found = try MasterSecret.find(for: config)
                let secret =
                    if let found { found } else {
                        try await MasterSecret.create(for: config, in: stores)
                    }
                let keys = try KeyRing(stores, config, secret: secret, pool: Pools().signing)
                // Stops when the master secret does not decrypt the stored keys: such a key must
                // not be replaced.
                try await keys.refresh()
                let grace = leaked ? .zero : config.longestLifetime(of: use)
                let new = try await keys.rotate(use, grace: grace, in: delay ?? .zero)
                let state: KeySchedule.State =
                    new.signsFrom <= SystemClock.now()
                    ? .signs(until: nil) : .published(signsFrom: new.signsFrom)
                Output.print("\(use.rawValue)  \(new.id)  \(state.words)")
            }
        }
    }
}

extension KeySchedule.State {
    /// The text that the commands print.
    fileprivate var words: String {
        switch self {
        case .signs(until: nil): "signs"
        case .signs(until: let end?): "signs until \(end.rfc3339)"
        case .published(let begin): "published, signs from \(begin.rfc3339)"
        case .verifies(let end): "verifies until \(end.rfc3339)"
        case .ended: "ended"
        }
    }
}

extension KeyCommand {
    struct Reseal: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reseal",
            abstract: "Encrypt the stored signing keys under another master secret.",
            discussion: """
                Encrypts every key in one transaction: after an error or a crash all of them are \
                encrypted either under the old secret or under the new one. The keys themselves, \
                and the tokens that they have signed, stay valid. Afterwards replace the old file \
                by the new one. Running servers continue with their keys, and read the new secret \
                as soon as its file is in place. A server that starts before that ends with an \
                error.

                The new file contains 32 random bytes or 64 hex digits. Only its owner may be \
                able to read it (mode 0600).

                Example:
                  head -c 32 /dev/urandom > new.secret && chmod 600 new.secret
                  postern key reseal --new-secret-file new.secret
                  mv new.secret data/master.secret
                """)

        @OptionGroup var options: ConfigOptions

        @Option(
            help: ArgumentHelp("The file with the new master secret.", valueName: "file"),
            completion: .file())
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
