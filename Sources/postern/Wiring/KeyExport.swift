internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Scheduling

/// The public keys of one use as the files of a layout.
struct KeyExport: Sendable {
    let use: KeyUse
    let layout: KeyLayout
    /// Whether tokens of this use name their key. If they do not, Dovecot uses the key `default`.
    let namesKey: Bool

    /// The files of the keys that the mail store can use. The caller must check
    /// ``unusable(among:signer:)``.
    /// - Parameters:
    ///   - keys: every key that is published, the newest first.
    ///   - signer: the id of the one that signs.
    func files(
        of keys: [PublishedKey], signer: String
    ) throws(KeyDirectoryError) -> KeyDirectory.Files {
        for key in keys where !KeyDirectory.isName(Array(key.id.utf8)) || key.id.contains("/") {
            throw .unusableID(key.id)
        }
        var files: KeyDirectory.Files = [:]
        for key in keys where layout.takes(key.algorithm) {
            let pem = Array(key.pem.utf8)
            switch layout {
            case .cyrus: if key.id == signer { files["\(use.rawValue).pem"] = pem }
            case .dovecot:
                let directory = "default/\(key.algorithm.rawValue)"
                files["\(directory)/\(key.id)"] = pem
                if !namesKey, key.id == signer { files["\(directory)/default"] = pem }
            case .pem: files["\(key.id).pem"] = pem
            }
        }
        return files
    }

    /// The keys that the mail store needs, but whose signatures it cannot verify.
    func unusable(among keys: [PublishedKey], signer: String) -> [PublishedKey] {
        keys.filter { key in
            !layout.takes(key.algorithm) && (layout != .cyrus || key.id == signer)
        }
    }
}

extension KeyExport {
    init(of use: KeyUse, as layout: KeyLayout, _ config: Config) {
        self.init(
            use: use, layout: layout,
            namesKey: use != .capability
                || config.tokens.capabilityKeyID && config.tokens.capabilityClaims == .full)
    }
}

/// Keeps the directory of `keys.export_directory` up to date.
///
/// Waits for the disk on a queue of its own. After an error the next call tries again.
actor KeyExporter {
    /// What a call has done.
    struct Report: Equatable, Sendable {
        var changes = KeyDirectory.Changes()
        /// The ids of keys that the mail store cannot use, each with its algorithm. Empty if
        /// nothing has changed.
        var unusable: [String] = []
        /// Files of other programs that Cyrus IMAP would read as keys. Empty if nothing has
        /// changed.
        var otherKeys: [String] = []
    }

    /// How often a directory is checked although no key has changed. Somebody may have removed a
    /// file.
    static let checkInterval = Duration.seconds(60)

    private let export: KeyExport
    private let directory: KeyDirectory
    private let keys: KeyRing
    private let executor = QueueExecutor(label: "keys.export")
    private var written: (files: KeyDirectory.Files, at: ContinuousClock.Instant)?
    private var otherKeys: [String] = []
    private var unusable: [String] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(_ export: KeyExport, to path: String, keys: KeyRing) {
        self.export = export
        directory = KeyDirectory(path: path, use: export.use)
        self.keys = keys
    }

    /// Writes the keys that are published at `now`.
    func update(at now: Instant, _ monotonic: ContinuousClock.Instant) async throws -> Report {
        guard let signer = try await keys.publishedSigner(export.use, at: now) else {
            return Report()
        }
        let published = try await keys.published(export.use, at: now)
        let files = try export.files(of: published, signer: signer.id)
        if let written, written.files == files, monotonic - written.at < Self.checkInterval {
            return Report()
        }
        var report = Report(changes: try directory.write(files))
        written = (files, monotonic)
        let left = export.unusable(among: published, signer: signer.id)
            .map { "\($0.id) (\($0.algorithm.rawValue))" }
        if left != unusable { report.unusable = left }
        unusable = left
        guard export.layout == .cyrus else { return report }
        let found = directory.otherKeys(beside: files)
        if found != otherKeys { report.otherKeys = found }
        otherKeys = found
        return report
    }
}
