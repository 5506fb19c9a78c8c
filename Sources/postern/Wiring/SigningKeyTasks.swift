internal import AuthCore
internal import Configuration
internal import Logging
internal import Synchronization

/// Periodic tasks for the signing keys. Each function is one task of ``BackgroundTasks``, which
/// logs its errors and calls it again.
struct SigningKeyTasks: Sendable {
    let store: any SigningKeyStore
    let keys: KeyRing
    /// The age at which a key is replaced; zero for never.
    let rotateEvery: Duration
    /// How long the tokens of a replaced key stay valid.
    let grace: @Sendable (KeyUse) -> Duration
    /// Writes the public keys for a mail store, if the operator wants that.
    let exporter: KeyExporter?
    let events: SecurityEvents
    let logger: Logger
    let clock: @Sendable () -> Instant
    private let seen = Seen()

    /// The state at the last call.
    private final class Seen: Sendable {
        let signers = Mutex<[KeyUse: String]>([:])
    }

    init(
        store: any SigningKeyStore, keys: KeyRing, rotateEvery: Duration = .zero,
        grace: @escaping @Sendable (KeyUse) -> Duration, exporter: KeyExporter? = nil,
        events: SecurityEvents, logger: Logger, clock: @escaping @Sendable () -> Instant
    ) {
        self.store = store
        self.keys = keys
        self.rotateEvery = rotateEvery
        self.grace = grace
        self.exporter = exporter
        self.events = events
        self.logger = logger
        self.clock = clock
    }

    func removeRetired() async throws {
        _ = try await store.removeRetired(before: clock())
    }

    /// Reads the keys when another process has written to the database.
    /// - Parameter seen: the result of the last successful call; `nil` at the first one.
    /// - Returns: the database's count of changes.
    func read(_ seen: Int64?) async throws -> Int64 {
        let count = try await store.changeCount()
        if count != seen { try await keys.refresh() }
        return count
    }

    /// Reports each use whose signing key has changed since the last call.
    func reportSigners() {
        let present = keys.signers(at: clock())
        let before = seen.signers.withLock { signers in
            defer { signers = present }
            return signers
        }
        for use in KeyUse.allCases {
            guard let id = present[use], let old = before[use], old != id else { continue }
            events.record(SecurityEvent(.signingKeyChanged, subject: "\(use.rawValue) \(id)"))
            logger.notice(
                "another key signs now",
                metadata: ["use": "\(use.rawValue)", "key": "\(id)", "before": "\(old)"])
        }
    }

    /// Replaces the keys that have reached their age.
    func rotate() async throws {
        guard rotateEvery > .zero else { return }
        for use in KeyUse.allCases {
            let new = try await keys.rotate(use, olderThan: rotateEvery, grace: grace(use))
            guard let new else { continue }
            log(new, of: use, "a signing key was rotated")
        }
    }

    private func log(_ new: RotatedKey, of use: KeyUse, _ message: Logger.Message) {
        logger.notice(
            message,
            metadata: [
                "use": "\(use.rawValue)", "key": "\(new.id)",
                "signs_from": "\(new.signsFrom.rfc3339)",
            ])
    }

    /// Makes a capability key of the configured algorithm if the newest one has another algorithm,
    /// which happens after a start with a changed setting.
    ///
    /// After it has returned `true`, this server does not do it again. Otherwise servers with
    /// different settings would replace each other's keys for ever.
    /// - Returns: `false` while a rotation has to come first; try again later.
    func changeAlgorithm() async throws -> Bool {
        do {
            guard let new = try await keys.changeAlgorithm(grace: grace(.capability)) else {
                return true
            }
            log(new, of: .capability, "a capability key of another algorithm was made")
            return true
        } catch is RotationError {
            return false
        }
    }

    /// Writes the public keys where the mail store reads them.
    func export() async throws {
        guard let exporter else { return }
        let report = try await exporter.update(at: clock(), .now)
        if !report.changes.isEmpty {
            logger.notice(
                "public keys were exported",
                metadata: [
                    "written": "\(report.changes.written.joined(separator: " "))",
                    "removed": "\(report.changes.removed.joined(separator: " "))",
                ])
        }
        if !report.unusable.isEmpty {
            logger.warning(
                """
                the mail store of keys.export_layout cannot verify with these keys; they are not \
                exported
                """,
                metadata: ["keys": "\(report.unusable.joined(separator: " "))"])
        }
        if !report.otherKeys.isEmpty {
            logger.warning(
                """
                other files in keys.export_directory hold public keys; Cyrus IMAP reads them and \
                refuses tokens
                """,
                metadata: ["files": "\(report.otherKeys.joined(separator: " "))"])
        }
    }
}

extension Config {
    /// How long a retired key must still verify: the longest lifetime of its tokens, plus two
    /// minutes. After two minutes every server has stopped signing with it, even one that could not
    /// read the database for a while.
    func longestLifetime(of use: KeyUse) -> Duration {
        let lifetime =
            switch use {
            case .agent: max(tokens.sessionLifetime, pow.agentLifetime)
            case .accounts: max(tokens.accountLifetime, pow.accountsLifetime)
            case .capability: tokens.capabilityLifetime
            case .login: HashLogins.Settings(self).tokenLifetime
            }
        return lifetime + .seconds(120)
    }
}
