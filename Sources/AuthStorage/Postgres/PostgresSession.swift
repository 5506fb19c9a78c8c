internal import AuthCore
internal import Scheduling

/// One connection that is kept open, because its state belongs to a session of the server: it
/// listens for changes of signing keys, and holds the locks of background tasks.
actor PostgresSession {
    private let executor = QueueExecutor(label: "postgres.session")
    private let url: PostgresURL
    private let settings: PostgresSettings
    private let reachability: Reachability
    private var handle: PostgresHandle?
    private var opening = ContinuousClock.now
    private var isClosed = false
    /// Rises with every notification about a change of keys.
    private var changes: Int64 = 0
    /// The state of the keys at the last check, and its time.
    private var seen: (state: Int64, at: ContinuousClock.Instant)?

    /// Notifications are lost if the connection goes through a pool that shares sessions. So the
    /// keys are checked in any case, but not at each call.
    private static let lookInterval = Duration.milliseconds(1400)

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(_ url: PostgresURL, settings: PostgresSettings, _ reachability: Reachability) {
        self.url = url
        var settings = settings
        settings.statementTimeout = settings.sessionTimeout
        self.settings = settings
        self.reachability = reachability
    }

    /// Opens the connection if that is possible now.
    func open() {
        _ = try? opened()
    }

    func close() {
        handle = nil
        isClosed = true
    }

    /// As ``SigningKeyStore/changeCount()``.
    func changeCount() throws -> Int64 {
        try translated { handle in
            guard let heard = handle.takeNotifications() else {
                throw PostgresFailure.lost(wasSent: false, cause: "the server closed the session")
            }
            changes += Int64(heard)
            if let seen, ContinuousClock.now < seen.at + Self.lookInterval, heard == 0 {
                return changes
            }
            let state = try handle.run([PostgresStatement(SQL.keyState)])[0]
                .first { try $0.integer(0) }
            if let state, let seen, state != seen.state, heard == 0 { changes += 1 }
            seen = (state ?? 0, .now)
            return changes
        }
    }

    /// Takes the lock for this session.
    /// - Returns: `false` when another session has it.
    func lock(_ key: Int64) throws -> Bool {
        try translated {
            try $0.run([PostgresStatement(SQL.lock, .integer(key))])[0].first { try $0.bool(0) }
                ?? false
        }
    }

    /// Gives the lock back. A session that is lost has given it back already.
    func unlock(_ key: Int64) {
        guard let handle else { return }
        if (try? handle.run([PostgresStatement(SQL.unlock, .integer(key))])) == nil {
            self.handle = nil
        }
    }

    private func translated<T>(_ work: (PostgresHandle) throws -> T) throws -> T {
        let begin = ContinuousClock.now
        do {
            return try work(try opened())
        } catch PostgresFailure.rejected(let failure) {
            throw failure.storeError
        } catch PostgresFailure.lost(let wasSent, let cause) {
            // This connection is used every second, so it is the first to notice that a server is
            // gone.
            if wasSent, let handle { reachability.noteLoss(of: handle.host, since: begin) }
            handle = nil
            throw StoreBusy(cause)
        } catch let error as StorageError {
            guard case .unconnected = error else { throw error }
            throw StoreBusy("\(error)")
        }
    }

    private func opened() throws -> PostgresHandle {
        guard !isClosed else { throw StorageError.closed }
        // If other connections are lost, this one may be waiting for a server that is gone.
        if let handle, handle.isOpen, !reachability.hasLoss(since: opening) { return handle }
        handle = nil
        opening = .now
        let opened = try PostgresHandle(url, settings: settings, order: reachability.order)
        try opened.execute(script: "LISTEN postern_signing_keys", name: "listen")
        // Changes before this session are not known.
        changes += 1
        seen = nil
        handle = opened
        return opened
    }
}

private enum SQL {
    static let keyState = Query(
        "keyState",
        """
        SELECT coalesce(hashtextextended(string_agg(
            id || ' ' || coalesce(retired::text, '') || ' ' || encode(sealed, 'hex'), ','
            ORDER BY id), 0), 0)
        FROM signing_key
        """)

    static let lock = Query("lock", "SELECT pg_try_advisory_lock($1)")
    static let unlock = Query("unlock", "SELECT pg_advisory_unlock($1)")
}
