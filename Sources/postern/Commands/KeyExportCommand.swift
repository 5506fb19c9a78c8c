internal import ArgumentParser
internal import AuthCore
internal import Configuration
internal import Platform

/// `postern key export`: writes public keys for a mail store that reads them from files.
struct KeyExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the public keys as PEM, to standard output or to a directory.",
        discussion: """
            Without --directory every published key is printed, the newest first. With --layout \
            cyrus only the key that signs now is printed.

            The layouts of a directory:
              pem      <kid>.pem for every published key
              dovecot  default/<alg>/<kid> for every published key, as Dovecot's local validation \
            looks them up (local_validation_key_dict), alg being RS256 or ES256; tokens without a \
            key id need and get default/<alg>/default, the key that signs now
              cyrus    one file, capability.pem, with the key that signs now: Cyrus IMAP reads \
            every file in http_jwt_key_dir, and accepts tokens of one RSA key only

            The command fails if the mail store of the layout cannot verify the algorithm of the \
            key that signs now (tokens.capability_algorithm): EdDSA for dovecot, ES256 and EdDSA \
            for cyrus.

            Each file is replaced as a whole, and all users can read it. Files of an earlier call \
            that are no longer needed are removed. Other files are never changed; it is an error \
            if one has a name that is needed. The written files are listed in DIRECTORY/.postern.

            Call it again after each rotation, when a new key is published and when it signs. \
            With keys.export_directory the server does this itself.

            Examples:
              postern key export --use capability
              postern key export --use capability --directory keys --layout dovecot
              postern key export --use capability --directory jwt --layout cyrus
            """)

    @OptionGroup var options: ConfigOptions

    @Option(
        help: "capability or login; the other keys are secret.",
        completion: .list(KeyUse.allCases.filter(\.isPublished).map(\.rawValue)),
        transform: { text in
            guard let use = KeyUse(rawValue: text), use.isPublished else {
                throw ValidationError("--use takes capability or login.")
            }
            return use
        })
    var use: KeyUse

    @Option(
        help: ArgumentHelp(
            "The directory to write to. It is created if its parent directory exists.",
            valueName: "directory"),
        completion: .directory)
    var directory: String?

    @Option(
        help: ArgumentHelp("cyrus, dovecot or pem.", valueName: "layout"),
        completion: .list(KeyLayout.allCases.map(\.rawValue)),
        transform: { text in
            guard let layout = KeyLayout(rawValue: text) else {
                throw ValidationError("--layout takes cyrus, dovecot or pem.")
            }
            return layout
        })
    var layout = KeyLayout.pem

    func validate() throws {
        if directory == nil, layout == .dovecot {
            throw ValidationError("--layout dovecot needs a --directory.")
        }
    }

    func run() async throws {
        try await options.withStore { stores, config in
            guard
                try await stores.signingKeys.keys().contains(where: {
                    $0.use == use && $0.retired == nil
                })
            else {
                Output.message(
                    "there is no \(use.rawValue) key yet; `postern serve` makes the first one")
                throw ExitCode.failure
            }
            let keys = try KeyRing(
                stores, config, secret: try MasterSecret.reread(for: config), pool: Pools().signing)
            try await keys.refresh()
            let now = SystemClock.now()
            guard let signer = try await keys.publishedSigner(use, at: now) else { return }
            let published = try await keys.published(use, at: now)
            let export = KeyExport(of: use, as: layout, config)
            for key in export.unusable(among: published, signer: signer.id) {
                if key.id == signer.id {
                    throw KeyDirectoryError.unusableKey(id: key.id, key.algorithm, layout)
                }
                let problem = layout.mismatch(with: key.algorithm).problem
                Output.message("warning: \(key.id) is left out: \(problem)")
            }
            guard let directory else {
                let printed = layout == .cyrus ? [signer] : published
                return try Output.deliver(printed.map(\.pem).joined())
            }
            try write(try export.files(of: published, signer: signer.id), to: directory)
        }
    }

    private func write(_ files: KeyDirectory.Files, to path: String) throws {
        let directory = KeyDirectory(path: path, use: use)
        let changes = try directory.write(files)
        for name in changes.written { Output.print("wrote \(path)/\(name)") }
        for name in changes.removed { Output.print("removed \(path)/\(name)") }
        if changes.isEmpty { Output.print("\(path) is up to date") }
        guard layout == .cyrus else { return }
        for name in directory.otherKeys(beside: files) {
            Output.message(
                "warning: \(path)/\(name) holds a public key, too: Cyrus IMAP reads it and then"
                    + " refuses tokens")
        }
    }
}
