internal import AuthCore
internal import Scheduling

/// The stores of AuthCore in a PostgreSQL database, which any number of servers may share.
/// Each store protocol is implemented in a separate file.
///
/// Has the guarantees of the protocols, also between servers. Each method is one statement, or a
/// few that are sent together as one transaction. An acknowledged change is on the server's disk. A
/// full queue, a lock, or a server that cannot be reached is `StoreBusy`, a full disk `StoreFull`,
/// never an absence. If the connection is lost before the server's answer, the result of a write is
/// not guessed, and the write is not executed twice (``PostgresWrite/Repetition``).
final class PostgresStore: Sendable {
    let pool: PostgresPool
    let batches: AccountBatches
    let lookUps: LookUps
    let session: PostgresSession
    private let settings: PostgresSettings
    private let observers: StoreObservers
    let disk: DiskReports

    private static let conflictLimit = 8
    private static let readLimit = 3

    /// Applies pending migrations and opens the first connections.
    /// - Parameters:
    ///   - loops: they have the connections; by default `EventLoop.shared()`.
    ///   - now: recorded with each migration that is applied.
    /// - Throws: ``MigrationError`` when the database is not for this program, ``StorageError``
    ///   when no server can be reached.
    static func open(
        _ url: PostgresURL, on loops: [EventLoop]? = nil,
        settings: PostgresSettings = PostgresSettings(),
        observers: StoreObservers = StoreObservers(), at now: Instant
    ) async throws -> PostgresStore {
        let store = PostgresStore(
            url, on: try loops ?? [EventLoop.shared()], settings: settings, observers: observers)
        async let listening: Void = store.session.open()
        let migrator = PostgresMigrator(url, settings: settings)
        await store.pool.adopt(try migrator.migratedConnection(at: now))
        await listening
        return store
    }

    private init(
        _ url: PostgresURL, on loops: [EventLoop], settings: PostgresSettings,
        observers: StoreObservers
    ) {
        let reachability = Reachability(observers.unreachable)
        pool = PostgresPool(url, on: loops, settings: settings, reachability)
        batches = AccountBatches(pool)
        lookUps = LookUps(pool)
        session = PostgresSession(url, settings: settings, reachability)
        self.settings = settings
        self.observers = observers
        disk = DiskReports(observers)
    }

    /// This store as all stores of the program.
    var stores: Stores {
        Stores(
            self,
            statistics: {
                self.pool.statistics([self.lookUps.statistics, self.batches.statistics])
            },
            ping: ping, exclusively: exclusively, close: close)
    }

    /// Closes every connection. Later calls throw ``StorageError/closed``.
    func close() async {
        await session.close()
        await pool.close()
    }

    /// Returns once the server has answered a query that reads a row of each table that logins
    /// need, for readiness.
    func ping() async throws {
        do {
            try await withDeadline(.now + settings.pingTimeout) {
                _ = try await self.exists(SQL.ping)
            }
        } catch is DeadlinePassed {
            throw StorageError.unresponsive(after: settings.pingTimeout)
        }
    }

    /// Implements ``Stores/exclusively``. The lock belongs to the session: if that is lost, another
    /// server may begin the task before this one has ended it.
    func exclusively(
        _ task: String, _ work: @Sendable () async throws -> Void
    ) async throws -> Bool {
        let key = PostgresLock.task(task)
        guard try await session.lock(key) else { return false }
        do {
            try await work()
        } catch {
            await session.unlock(key)
            throw error
        }
        await session.unlock(key)
        return true
    }

    // MARK: Reading

    /// Reads a row that an index finds at once. Look-ups that come at the same time are sent
    /// together.
    func lookUp<T: Sendable>(
        _ query: Query, _ values: PostgresValue...,
        read: @escaping @Sendable (PostgresRow) throws -> T
    ) async throws -> T? {
        try await self.read(PostgresStatement(query, values), isShared: true) {
            try $0.first(read)
        }
    }

    func first<T: Sendable>(
        _ query: Query, _ values: PostgresValue...,
        read: @escaping @Sendable (PostgresRow) throws -> T
    ) async throws -> T? {
        try await self.read(PostgresStatement(query, values)) { try $0.first(read) }
    }

    func all<T: Sendable>(
        _ query: Query, _ values: PostgresValue...,
        read: @escaping @Sendable (PostgresRow) throws -> T
    ) async throws -> [T] {
        try await self.read(PostgresStatement(query, values)) { try $0.all(read) }
    }

    func exists(_ query: Query, _ values: PostgresValue...) async throws -> Bool {
        try await read(PostgresStatement(query, values)) { !$0.isEmpty }
    }

    /// Reads are repeated without harm, so the caller does not notice a lost connection.
    /// - Parameter isShared: whether it is sent together with those of others.
    private func read<T: Sendable>(
        _ statement: PostgresStatement, isShared: Bool = false,
        _ read: @escaping @Sendable (PostgresResult) throws -> T
    ) async throws -> T {
        var attempts = 0
        while true {
            do {
                if isShared, attempts == 0 { return try await lookUps.run(statement, read) }
                return try await pool.run([statement]) { try read($0[0]) }
            } catch let error {
                attempts += 1
                guard attempts < Self.readLimit, isWorthRetrying(error) else {
                    throw translated(error)
                }
            }
        }
    }

    private func isWorthRetrying(_ error: any Error) -> Bool {
        switch error {
        case PostgresFailure.lost, is NoConnection, is LookUps.Interrupted: true
        case PostgresFailure.rejected(let failure): failure.isTransient
        default: false
        }
    }

    /// The error as callers of a store know it.
    private func translated(_ error: any Error) -> any Error {
        switch error {
        case PostgresFailure.rejected(let failure): failure.storeError
        case PostgresFailure.lost(_, let cause): StoreBusy(cause)
        case StorageError.unconnected: StoreBusy("\(error)")
        default: error
        }
    }

    // MARK: Writing

    /// Executes the write exactly once, even if connections are lost.
    /// - Parameter isUncertain: whether it was sent before, and may have been executed.
    func perform<Value: Sendable>(
        _ write: PostgresWrite<Value>, isUncertain wasSent: Bool = false
    ) async throws -> Value {
        let giveUp = ContinuousClock.now + settings.recoveryTimeout
        var conflicts = 0
        var isUncertain = wasSent
        while true {
            do {
                return try await attempt(write, isUncertain: isUncertain)
            } catch PostgresFailure.rejected(let failure) {
                if failure.isRepetition, case .provable(_, let done) = write.repetition {
                    return done
                }
                conflicts += 1
                guard failure.isTransient, conflicts < Self.conflictLimit else {
                    throw noted(failure.storeError)
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 1...(5 << conflicts))))
            } catch let error where isLoss(error, isUncertain: isUncertain) {
                if case .never = write.repetition { throw translated(error) }
                guard ContinuousClock.now < giveUp else { throw translated(error) }
                isUncertain = true
                try await Task.sleep(for: .milliseconds(Int.random(in: 50...250)))
            } catch {
                throw translated(error)
            }
        }
    }

    private func attempt<Value: Sendable>(
        _ write: PostgresWrite<Value>, isUncertain: Bool
    ) async throws -> Value {
        let read = write.read
        let value = try await pool.run(write.statements) { try read($0) }
        disk.note(nil, at: .now)
        // If the earlier attempt was executed, this one found nothing to change.
        if isUncertain, case .provable(let proof, let done) = write.repetition,
            try await self.read(proof, { !$0.isEmpty })
        {
            return done
        }
        return value
    }

    /// Whether the write has to be tried again because its connection was lost. While the outcome
    /// is unknown, it is also tried again after errors that mean that no server can be reached.
    private func isLoss(_ error: any Error, isUncertain: Bool) -> Bool {
        switch error {
        case PostgresFailure.lost: true
        case StorageError.unconnected, is StoreBusy: isUncertain
        default: false
        }
    }

    private func noted(_ error: any Error) -> any Error {
        if error is StoreFull { disk.note(error, at: .now) }
        return error
    }

    /// Reports events that were recorded, before the caller gets its answer.
    func report(_ events: AuditEvent...) {
        events.forEach(observers.event)
    }
}

/// A transaction that changes something.
struct PostgresWrite<Value: Sendable>: Sendable {
    /// What to do when the connection is lost before the server's answer.
    enum Repetition: Sendable {
        /// Repeat it: executed twice, it has the same effect.
        case harmless
        /// Repeat it. If the server rejects a second row with the same `write_id`, or if the proof
        /// finds a row afterwards, it was executed before, and its result is `done`.
        ///
        /// Checking first would be wrong, because the lost transaction may still be running. The
        /// repetition waits for the rows that the lost one has locked.
        case provable(PostgresStatement, done: Value)
        /// Report that the store is busy.
        case never
    }

    let statements: [PostgresStatement]
    let repetition: Repetition
    /// Makes the value of the results.
    let read: @Sendable ([PostgresResult]) throws -> Value

    init(
        _ statements: [PostgresStatement], repetition: Repetition,
        read: @escaping @Sendable ([PostgresResult]) throws -> Value
    ) {
        self.statements = statements
        self.repetition = repetition
        self.read = read
    }
}

private enum SQL {
    /// Each part reads one row by an index.
    static let ping = Query("ping", "SELECT " + looks.joined(separator: ", "))

    private static let looks =
        [
            ("account", "address", "credential_version"), ("account", "id", "credential_version"),
            ("account", "api_key_digest", "credential_version"),
            ("pro_user", "email", "credential_version"), ("pro_user", "id", "credential_version"),
            ("api_token", "digest", "created"), ("user_session", "id", "created"),
            ("hash_login", "email", "credential_version"),
            ("spent_challenge", "id", "expiry"), ("signing_key", "id", "created"),
        ].flatMap { table, key, value in
            ["", " DESC"].map { order in
                "(SELECT \(value) FROM \(table) ORDER BY \(key)\(order) LIMIT 1)"
            }
        }
        // It does not read the oldest event, because after many removals finding it takes long.
        + ["(SELECT time FROM audit ORDER BY sequence DESC LIMIT 1)"]
}
