internal import AuthCore
internal import Logging

/// What has to be done from time to time, whether anybody asks or not.
///
/// A duty that fails is logged and tried again at its next time; it never ends the server.
struct Duties: Sendable {
    /// Marks removed at once: small enough that a signup waits a moment only.
    private static let sweepLimit = 1000
    /// Events trimmed at once.
    private static let trimLimit = 1000
    /// By how much the clocks of servers on one database may differ, or one may be set back: a mark
    /// forgotten earlier would let its challenge be used again where it has not run out yet.
    static let clockDifference: Duration = .seconds(600)

    /// Within this time a server signs with a key that another has rotated to.
    static let keyRefresh = Duration.seconds(60)

    let ledger: any ChallengeLedger
    let signingKeys: any SigningKeyStore
    let keys: KeyRing
    let audit: any AuditLog
    /// How long events stay on record; zero is for ever.
    let retention: Duration
    let logger: Logger
    let clock: @Sendable () -> Instant

    /// Runs until its task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await repeatedly("sweep spent challenges", .seconds(60), sweep) }
            group.addTask { await repeatedly("refresh keys", Self.keyRefresh, refreshKeys) }
            group.addTask {
                await repeatedly("release memory", .seconds(60)) { Footprint.releaseFreeHeap() }
            }
            group.addTask { await repeatedly("trim the record", .seconds(600), trimRecord) }
        }
    }

    /// Forgets challenges that have run out, all of them, a few at a time.
    func sweep() async throws {
        let past = clock().advanced(by: .zero - Self.clockDifference)
        while try await ledger.sweep(before: past, limit: Self.sweepLimit) == Self.sweepLimit {
            try Task.checkCancellation()
        }
    }

    func refreshKeys() async throws {
        _ = try await signingKeys.removeRetired(before: clock())
        try await keys.refresh()
    }

    /// Removes the events that are older than they are to be kept, all of them, a few at a time.
    func trimRecord() async throws {
        guard retention > .zero else { return }
        let past = clock().advanced(by: .zero - retention)
        while try await audit.trim(before: past, limit: Self.trimLimit) == Self.trimLimit {
            try Task.checkCancellation()
        }
    }

    private func repeatedly(
        _ name: String, _ interval: Duration, _ duty: () async throws -> Void
    ) async {
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: interval)
                try await duty()
            } catch is CancellationError {
                return
            } catch {
                logger.error(
                    "a background duty failed", error: error, metadata: ["duty": "\(name)"])
            }
        }
    }
}
