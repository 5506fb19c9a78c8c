internal import AuthCore
internal import Cryptography
internal import Logging
internal import Platform
internal import Provisioning

/// The tasks that run at intervals, independent of requests: remove expired challenges, sessions
/// and links, refresh the signing keys, rotate and export them, return free memory, remove old
/// events, look up verified domains, send account events and the events of webhooks to their
/// receivers.
///
/// A task that fails is logged and runs again after its interval. It never ends the server.
struct BackgroundTasks: Sendable {
    /// The number of challenges, sessions or links that one statement removes. It is small, so that
    /// a signup does not wait long for it.
    private static let sweepLimit = 1000
    /// Audit events that one statement removes.
    private static let trimLimit = 1000
    /// The largest difference between the clocks of servers on one database, and the largest step
    /// back of one clock. If a spent challenge were removed earlier, a server with a slower clock
    /// would accept it again.
    static let clockDifference: Duration = .seconds(600)

    /// How often the database is asked whether another process has changed it.
    static let keyWatch = Duration.milliseconds(500)
    /// The time within which every server on a database uses a new signing key, and rejects all
    /// tokens of a leaked key.
    static let keyRefresh = Duration.seconds(2)
    /// How often the database is asked for account events to send.
    static let deliveryWatch = Duration.milliseconds(500)
    /// How often the database is asked for events of webhooks to send.
    static let webhookWatch = Duration.milliseconds(200)
    /// How often the files of certificates are looked at.
    static let certificateWatch = Duration.seconds(2)
    /// An error that repeats is logged once in this time.
    private static let repeatedError = Duration.seconds(60)

    let ledger: any ChallengeLedger
    let sessions: any UserSessionStore
    let links: any EmailLinkStore
    let signingKeys: SigningKeyTasks
    /// Whether other processes can open the database and change its keys.
    let isShared: Bool
    /// Always the present ones, because their settings can change.
    let domains: @Sendable () -> Domains
    let audit: any AuditLog
    let feed: any AccountFeed
    /// How long events are kept; zero keeps them without end.
    let retention: Duration
    /// `nil` without a receiver of account events.
    let delivery: EventDelivery?
    let webhooks: WebhookDelivery
    /// `nil` if no listener has TLS.
    let certificates: Certificates?
    /// ``Stores/exclusively``: servers on one database do these tasks one at a time.
    let exclusively:
        @Sendable (_ task: String, _ work: @Sendable () async throws -> Void) async throws -> Bool
    let events: SecurityEvents
    let logger: Logger
    let clock: @Sendable () -> Instant

    /// Runs until its task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await alone("remove expired rows", .seconds(60), sweep) }
            group.addTask {
                await alone("remove keys", .seconds(60), signingKeys.removeRetired)
            }
            group.addTask { await watchKeys() }
            group.addTask {
                guard signingKeys.rotateEvery > .zero else { return }
                await alone("rotate keys", .seconds(60), signingKeys.rotate)
            }
            group.addTask {
                await untilDone(
                    "change the algorithm", .seconds(60), signingKeys.changeAlgorithm)
            }
            group.addTask {
                guard signingKeys.exporter != nil else { return }
                await repeatedly("export keys", Self.keyWatch, signingKeys.export)
            }
            group.addTask {
                // Runs a second after the start, and after the other tasks of each minute, because
                // they use the memory and the pages of code that this task releases.
                guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
                HashMemory.release()
                Process.releaseCodePages()
                await repeatedly("release memory", .seconds(60)) {
                    HashMemory.release()
                    Process.releaseFreeHeap()
                    Process.releaseCodePages()
                }
            }
            group.addTask {
                await repeatedly("report security events", .seconds(60)) { events.flush() }
            }
            group.addTask { await watchCertificates() }
            group.addTask { await alone("trim audit events", .seconds(600), trimEvents) }
            group.addTask {
                guard let delivery else { return }
                await alone("send account events", Self.deliveryWatch, delivery.run)
            }
            group.addTask {
                // Servers on one database share the events.
                await repeatedly("send events of webhooks", Self.webhookWatch, webhooks.run)
            }
            group.addTask {
                await alone("look up verified domains", .seconds(3600)) {
                    try await domains().recheck(at: clock())
                }
            }
        }
    }

    /// Runs at once the tasks that are due, for a test suite that has set the clock.
    func runDue() async throws {
        try await sweep()
        try await signingKeys.rotate()
        try await signingKeys.removeRetired()
        signingKeys.reportSigners()
        try await trimEvents()
        try await domains().recheck(at: clock())
    }

    /// Removes all challenges, and all sessions and links of users, that have expired, a limited
    /// number at a time.
    func sweep() async throws {
        let past = clock().advanced(by: .zero - Self.clockDifference)
        while try await ledger.sweep(before: past, limit: Self.sweepLimit) == Self.sweepLimit {
            try Task.checkCancellation()
        }
        while try await sessions.sweepSessions(before: past, limit: Self.sweepLimit)
            == Self.sweepLimit
        {
            try Task.checkCancellation()
        }
        while try await links.sweepEmailLinks(before: past, limit: Self.sweepLimit)
            == Self.sweepLimit
        {
            try Task.checkCancellation()
        }
    }

    /// Loads certificates that were renewed.
    private func watchCertificates() async {
        guard let certificates else { return }
        await repeatedly("read certificates", Self.certificateWatch) {
            if try certificates.reloadIfChanged() { logger.notice("certificates were read again") }
        }
    }

    /// Loads keys that other processes have made, and reports when another key begins to sign.
    private func watchKeys() async {
        // Otherwise a change before the first check would not be noticed.
        signingKeys.reportSigners()
        guard isShared else {
            // Without other processes only a rotation by age changes the keys.
            guard signingKeys.rotateEvery > .zero else { return }
            return await repeatedly("watch keys", Self.keyWatch) { signingKeys.reportSigners() }
        }
        var seen: Int64?
        await repeatedly("read keys", Self.keyWatch) {
            seen = try await signingKeys.read(seen)
            signingKeys.reportSigners()
        }
    }

    /// Removes all events that are older than the retention, a limited number at a time. Events
    /// that a receiver has not accepted yet stay.
    func trimEvents() async throws {
        guard retention > .zero else { return }
        let past = clock().advanced(by: .zero - retention)
        while try await audit.trim(before: past, limit: Self.trimLimit) == Self.trimLimit {
            try Task.checkCancellation()
        }
        while try await feed.trimAccountEvents(
            before: past, limit: Self.trimLimit, keepingUndelivered: delivery != nil)
            == Self.trimLimit
        {
            try Task.checkCancellation()
        }
    }

    /// Like ``repeatedly(_:_:_:)``, but never while another server runs the task.
    private func alone(
        _ name: String, _ interval: Duration, _ task: @escaping @Sendable () async throws -> Void
    ) async {
        await repeatedly(name, interval) { _ = try await exclusively(name, task) }
    }

    /// Begins half a second after the start: a new server has then answered its first requests, and
    /// memory is not released yet. Tries again after each interval until `task` returns `true`.
    private func untilDone(
        _ name: String, _ interval: Duration, _ task: () async throws -> Bool
    ) async {
        var isDone = false
        await repeatedly(name, interval, first: .milliseconds(500), while: { !isDone }) {
            isDone = try await task()
        }
    }

    private func repeatedly(
        _ name: String, _ interval: Duration, first: Duration? = nil,
        while isWanted: () -> Bool = { true }, _ task: () async throws -> Void
    ) async {
        var pause = first ?? interval
        var logged: (text: String, at: ContinuousClock.Instant)?
        while !Task.isCancelled, isWanted() {
            do {
                try await Task.sleep(for: pause)
                pause = interval
                try await task()
            } catch is CancellationError {
                return
            } catch {
                let text = "\(error)"
                if let logged, logged.text == text, .now - logged.at < Self.repeatedError {
                    continue
                }
                logged = (text, .now)
                logger.error(
                    "a background task failed", error: error, metadata: ["task": "\(name)"])
            }
        }
    }
}
