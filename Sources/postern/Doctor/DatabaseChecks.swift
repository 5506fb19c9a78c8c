internal import AuthCore
internal import AuthStorage
internal import Configuration
internal import Cryptography

/// The database, the signing keys in it, and the clock.
struct DatabaseChecks {
    private static let database = "database"
    private static let keys = "signing keys"
    private static let clock = "clock"
    /// A clock difference that servers on one database should not have.
    private static let noticeable = Duration.seconds(5)

    let config: Config
    let now: @Sendable () -> Instant

    /// Whether the stores can be opened without a change of the database.
    struct Result {
        var findings: [Finding] = []
        var isUsable = false
    }

    /// Checks the database without changing it. Blocks until it is done.
    func inspect() -> Result {
        let database = config.database
        guard !database.isInMemory else {
            return Result(
                findings: [
                    Finding(
                        .caution, Self.database,
                        "it is in the memory of the server, so a command cannot check it",
                        "name one on the disk with --data")
                ])
        }
        guard !database.isMissing else {
            return Result(
                findings: [
                    Finding(
                        .caution, Self.database, "there is none at \(database.name)",
                        "`postern serve` creates it; check --data and storage.url")
                ])
        }
        do {
            try MasterSecret.checkDatabase(of: config)
            return result(of: try database.inspect())
        } catch {
            return Result(
                findings: [
                    Finding(.failed, Self.database, "\(error)", database.isRemote ? nil : restore)
                ])
        }
    }

    private var restore: String { "restore a backup (docs/operators.md, \"Restore\")" }

    private func result(of inspection: DatabaseInspection) -> Result {
        var result = Result()
        let name = config.database.name
        for problem in inspection.problems {
            result.findings.append(Finding(.failed, Self.database, "\(name): \(problem)", restore))
        }
        if inspection.pending > 0 {
            result.findings.append(
                Finding(
                    .caution, Self.database,
                    "\(inspection.pending) migrations of \(name) are pending",
                    "the next `postern serve` or `postern migrate` applies them; keys and clock are"
                        + " not checked before"))
        } else if inspection.problems.isEmpty {
            let version = "schema \(inspection.applied)"
            result.findings.append(
                Finding(
                    .ok, Self.database,
                    inspection.server.map {
                        "\(name) answers, \(version), PostgreSQL \($0.version)"
                    }
                        ?? "\(name) is intact, \(version)"))
        }
        if let server = inspection.server { result.findings += clock(of: server.clock) }
        result.isUsable = inspection.problems.isEmpty && inspection.pending == 0
        return result
    }

    private func clock(of server: Instant) -> [Finding] {
        let now = now()
        let difference = server < now ? now.since(server) : server.since(now)
        let text = "it differs from the database server's by \(difference.roundedSeconds) s"
        if difference > TokenAuthority.clockSkew {
            return [
                Finding(
                    .failed, Self.clock, text,
                    "synchronize both by NTP: tokens of other servers are refused")
            ]
        }
        return difference > Self.noticeable
            ? [Finding(.caution, Self.clock, text, "set both by NTP")] : []
    }

    /// Whether every stored key can be decrypted.
    func keyFindings(_ stores: Stores) async throws -> [Finding] {
        let keys = try await stores.signingKeys.keys()
        guard !keys.isEmpty else {
            return [Finding(.ok, Self.keys, "there are none yet; `postern serve` makes them")]
        }
        // Another finding says why the secret cannot be read.
        guard let secret = try? MasterSecret.find(for: config) else {
            return [
                Finding(
                    .failed, Self.keys, "\(keys.count) cannot be used without the master secret")
            ]
        }
        let sealer = try KeySealer(secret)
        let unreadable = sealer.unreadable(among: keys)
        guard unreadable.isEmpty else {
            let path = MasterSecret.path(for: config)
            return [
                Finding(
                    .failed, Self.keys,
                    "\(unreadable.count) of \(keys.count) cannot be decrypted with \(path):"
                        + " \(unreadable.joined(separator: " "))",
                    "put back the master secret that they were encrypted with")
            ]
        }
        let missing = KeyUse.allCases.filter { KeySchedule(of: $0, in: keys) == nil }
        let more =
            missing.isEmpty
            ? "" : "; a server makes those for \(missing.map(\.rawValue).joined(separator: ", "))"
        return [Finding(.ok, Self.keys, "all \(keys.count) can be decrypted\(more)")]
            + (try algorithmFindings(keys, sealer))
    }

    /// Whether capabilities are signed with the configured algorithm, now or from the next key on.
    private func algorithmFindings(_ keys: [SealedKey], _ sealer: KeySealer) throws -> [Finding] {
        let wanted = config.tokens.capabilityAlgorithm.rawValue
        guard let newest = keys.first(where: { $0.use == .capability && $0.retired == nil }) else {
            return []
        }
        let algorithm = try sealer.algorithm(of: newest)
        guard algorithm != wanted else { return [] }
        return [
            Finding(
                .caution, Self.keys,
                "the newest capability key \(newest.id) is for \(algorithm), and"
                    + " tokens.capability_algorithm is \(wanted)",
                "start a server with this setting, or run `postern key rotate --use capability`")
        ]
    }

    /// Whether this clock was set back, or another server's clock is wrong.
    func clockFindings(_ stores: Stores) async throws -> [Finding] {
        guard let newest = try await stores.audit.latestEvents(limit: 1).last?.event.time else {
            return [
                Finding(.ok, Self.clock, "\(now().rfc3339); there is no event to compare it with")
            ]
        }
        let now = now()
        let ahead = newest.since(now)
        let text =
            "the newest event is \(ahead.roundedSeconds) s in the future: this clock was set back,"
            + " or another server's is wrong"
        if ahead > TokenAuthority.clockSkew {
            return [
                Finding(
                    .failed, Self.clock, text,
                    "set it by NTP; until then tokens that were signed before are refused")
            ]
        }
        if ahead > Self.noticeable { return [Finding(.caution, Self.clock, text, "set it by NTP")] }
        return [
            Finding(.ok, Self.clock, "\(now.rfc3339), after the newest event (\(newest.rfc3339))")
        ]
    }

    /// Whether the mail store finds the keys that it needs.
    func exportFindings(_ stores: Stores) async throws -> [Finding] {
        guard let path = config.keys.exportDirectory else { return [] }
        let subject = "exported keys"
        let stored = try await stores.signingKeys.keys()
        guard let secret = try? MasterSecret.find(for: config),
            KeySchedule(of: .capability, in: stored) != nil
        else { return [] }
        let keys = try KeyRing(stores, config, secret: secret, pool: Pools().signing)
        try await keys.refresh()
        let now = now()
        guard let signer = try await keys.publishedSigner(.capability, at: now) else { return [] }
        let export = KeyExport(of: .capability, as: config.keys.exportLayout, config)
        let published = try await keys.published(.capability, at: now)
        let files = try export.files(of: published, signer: signer.id)
        let directory = KeyDirectory(path: path, use: .capability)
        let missing = directory.missing(of: files)
        var findings: [Finding] =
            missing.isEmpty
            ? [Finding(.ok, subject, "\(path) has the keys that are published now")]
            : [
                Finding(
                    .failed, subject,
                    "\(path) lacks or has old versions of: \(missing.joined(separator: " "))",
                    "a running server writes them; see its log (task `export keys`)")
            ]
        for key in export.unusable(among: published, signer: signer.id) {
            let problem = config.keys.exportLayout.mismatch(with: key.algorithm).problem
            findings.append(
                Finding(
                    .caution, subject, "the key \(key.id) is not in \(path): \(problem)",
                    "its tokens are refused there until another key signs (`postern key list`)"))
        }
        if config.keys.exportLayout == .cyrus {
            for name in directory.otherKeys(beside: files) {
                findings.append(
                    Finding(
                        .caution, subject, "\(path)/\(name) holds a public key, too",
                        "move it away: Cyrus IMAP accepts the tokens of one RSA key only"))
            }
        }
        return findings
    }
}

extension Duration {
    fileprivate var roundedSeconds: Int64 {
        components.seconds + (components.attoseconds >= 500_000_000_000_000_000 ? 1 : 0)
    }
}
