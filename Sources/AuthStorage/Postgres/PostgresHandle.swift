internal import AuthCore
internal import CPostgres
internal import Glibc
internal import Scheduling

/// One connection to a PostgreSQL server, and its prepared statements.
///
/// Not `Sendable`: it belongs to one ``PostgresConnection`` or to one function. ``send(_:)`` and
/// ``receive()`` do not wait for the server. The others do, so they are called where that delays
/// nobody else.
final class PostgresHandle {
    private let pointer: OpaquePointer
    /// The names of statements that the server has prepared.
    private var prepared: Set<String> = []
    private var trip = Trip(commands: [])
    /// How long a server may take for its answers.
    let timeout: Duration

    /// What has been sent, and what came back so far.
    private struct Trip {
        let commands: [Command]
        var isFlushed = true
        var results: [PostgresResult] = []
        var failure: SQLFailure?
        /// The command whose results come next.
        var index = 0
        var wasEmpty = false
    }

    /// Why libpq could not be loaded; loading is tried once.
    private static let loadFailure = postern_libpq_load().map { String(cString: $0) }

    /// Connects to the first host of the URL that accepts writes, whatever `target_session_attrs`
    /// in the URL says, because a standby may not know the latest revocations.
    ///
    /// With `PQconnectPoll` a caller cannot make libpq try the next host; here `connect_timeout`
    /// does that.
    /// - Parameter order: in which the hosts of the URL are tried.
    /// - Throws: ``StorageError/unconnected(name:cause:)``.
    init(
        _ url: PostgresURL, settings: PostgresSettings, order: PostgresHostOrder = .ofURL
    ) throws {
        if let cause = Self.loadFailure {
            throw StorageError.unconnected(
                name: url.shown,
                cause: "libpq cannot be loaded; on Debian install libpq5 (\(cause))")
        }
        guard let options = postern_PQconninfoParse(url.text, nil) else {
            // libpq's message may contain the password.
            throw StorageError.unconnected(
                name: url.shown, cause: "libpq cannot read this URL (\"Connection URIs\")")
        }
        let hosts = order.parameters(options)
        postern_PQconninfoFree(options)
        // The URL replaces the parameters before it, and those after it replace the URL's.
        let parameters: [PostgresParameter] = [
            ("connect_timeout", "\(settings.connectSeconds)"), ("gssencmode", "disable"),
            // A server whose machine is gone sends nothing. This is noticed after 4 s of silence.
            ("keepalives_idle", "5"), ("keepalives_interval", "2"), ("keepalives_count", "2"),
            ("tcp_user_timeout", "4000"), ("fallback_application_name", "postern"),
            ("dbname", url.text), ("client_encoding", "UTF8"),
            ("target_session_attrs", "read-write"),
        ]
        let pointer = Self.connect(parameters + hosts)
        guard let pointer else {
            throw StorageError.unconnected(name: url.shown, cause: "no memory")
        }
        self.pointer = pointer
        timeout = settings.statementTimeout + .seconds(1)
        guard postern_PQstatus(pointer) == CONNECTION_OK else {
            throw StorageError.unconnected(name: url.shown, cause: message)
        }
        // The default writes to standard error.
        postern_PQsetNoticeProcessor(pointer, { _, _ in }, nil)
        guard
            postern_PQparameterStatus(pointer, "server_encoding").map({ String(cString: $0) })
                == "UTF8"
        else {
            throw StorageError.unconnected(
                name: url.shown, cause: "the encoding of the database is not UTF8")
        }
        try configure(settings)
        postern_PQsetnonblocking(pointer, 1)
    }

    deinit {
        postern_PQfinish(pointer)
    }

    private static func connect(_ parameters: [PostgresParameter]) -> OpaquePointer? {
        let names = parameters.map { strdup($0.name) }
        let values = parameters.map { strdup($0.value) }
        defer { for text in names + values { free(text) } }
        let keywords = names.map { UnsafePointer($0) } + [nil]
        return postern_PQconnectdbParams(keywords, values.map { UnsafePointer($0) } + [nil], 1)
    }

    /// Sets what new connections have. An acknowledged change must be on the server's disk,
    /// whatever its configuration says.
    func configure(_ settings: PostgresSettings) throws {
        try execute(
            script: """
                SET statement_timeout = \(settings.statementTimeout.milliseconds);
                SET lock_timeout = \(settings.lockTimeout.milliseconds);
                SET idle_in_transaction_session_timeout = 10000;
                SET default_transaction_isolation = 'read committed';
                SELECT set_config('synchronous_commit', 'on', false)
                WHERE current_setting('synchronous_commit') = 'off';
                """, name: "configure")
    }

    /// libpq's last message, in one line. It contains no stored value, because it is used only
    /// after connecting or the connection has failed.
    private var message: String {
        String(cString: postern_PQerrorMessage(pointer)).split(separator: "\n").joined(
            separator: "; ")
    }

    /// Whether the connection can be used, as far as is known without asking the server.
    var isOpen: Bool { postern_PQstatus(pointer) == CONNECTION_OK }

    /// The host that it was made to.
    var host: PostgresHost {
        PostgresHost(
            name: postern_PQhost(pointer).map { String(cString: $0) } ?? "",
            port: postern_PQport(pointer).map { String(cString: $0) } ?? "")
    }

    /// Whether the server has been set to read only since, or has become a standby behind a pool of
    /// connections. It reports that by itself, with the answer to the next statement at the latest
    /// (since PostgreSQL 14; before, only writes fail).
    private var isReadOnly: Bool {
        isOn("default_transaction_read_only") || isOn("in_hot_standby")
    }

    private func isOn(_ parameter: String) -> Bool {
        postern_PQparameterStatus(pointer, parameter).map { strcmp($0, "on") == 0 } ?? false
    }

    private static let readOnly = "the server cannot be written to any more"

    /// Runs a script of statements that take no parameters; not in a transaction that
    /// ``run(_:)`` has begun. Waits without a limit of its own: migrations may take long.
    func execute(script: String, name: String) throws {
        guard
            postern_PQpipelineStatus(pointer) == PQ_PIPELINE_OFF
                || postern_PQexitPipelineMode(pointer) == 1,
            let result = postern_PQexec(pointer, script)
        else { throw PostgresFailure.lost(wasSent: true, cause: message) }
        defer { postern_PQclear(result) }
        switch postern_PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return
        default:
            let failure = SQLFailure(result, statement: name)
            if !isOpen || failure.state.isEmpty {
                throw PostgresFailure.lost(wasSent: true, cause: message)
            }
            throw PostgresFailure.rejected(failure)
        }
    }

    /// As ``send(_:)`` and ``receive()``, waiting for the server.
    func run(_ statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresResult] {
        try send(statements)
        let deadline = ContinuousClock.now + timeout
        while wait(until: deadline) {
            if let results = try receive() { return results }
        }
        throw .lost(wasSent: true, cause: isOpen ? Self.silence : message)
    }

    static let silence = "no answer in time"

    /// Begins to run statements in one round trip and one transaction, unless one has been begun:
    /// all of them take effect, or none (libpq, "Pipeline Mode"). Each sees what was committed
    /// before it began. Nothing else may be sent before ``receive()`` has returned their results.
    func send(_ statements: [PostgresStatement]) throws(PostgresFailure) {
        guard isAlive() else {
            throw .lost(wasSent: false, cause: isReadOnly ? Self.readOnly : message)
        }
        if postern_PQpipelineStatus(pointer) == PQ_PIPELINE_OFF {
            postern_PQenterPipelineMode(pointer)
        }
        var commands: [Command] = []
        for statement in statements {
            let name = statement.query.name
            let isNew =
                !prepared.contains(name)
                && !commands.contains { $0.isPreparation && $0.name == name }
            if isNew {
                guard postern_PQsendPrepare(pointer, name, statement.query.sql, 0, nil) == 1 else {
                    throw .lost(wasSent: true, cause: message)
                }
                commands.append(Command(name: name, isPreparation: true))
            }
            guard send(statement) else { throw .lost(wasSent: true, cause: message) }
            commands.append(Command(name: name, isPreparation: false))
        }
        trip = Trip(commands: commands)
        guard postern_PQpipelineSync(pointer) == 1 else {
            throw .lost(wasSent: true, cause: message)
        }
        try flush()
    }

    /// Whether everything that was sent has been given to the kernel. Otherwise ``receive()`` is
    /// called when the socket can be written, too.
    var isFlushed: Bool { trip.isFlushed }

    private func flush() throws(PostgresFailure) {
        let rest = postern_PQflush(pointer)
        guard rest >= 0 else { throw .lost(wasSent: true, cause: message) }
        trip.isFlushed = rest == 0
    }

    private struct Command {
        let name: String
        let isPreparation: Bool
    }

    private func send(_ statement: PostgresStatement) -> Bool {
        var buffer: [UInt8] = []
        var ranges: [(offset: Int, length: Int32)?] = []
        for value in statement.values {
            let offset = buffer.count
            value.append(to: &buffer)
            ranges.append(value.isNull ? nil : (offset, Int32(clamping: buffer.count - offset)))
        }
        // The address of an empty array may be nil, which would mean NULL.
        buffer.append(0)
        return buffer.withUnsafeBytes { raw in
            let base = raw.bindMemory(to: CChar.self).baseAddress
            let formats = [Int32](repeating: 1, count: ranges.count)
            return postern_PQsendQueryPrepared(
                pointer, statement.query.name, Int32(ranges.count),
                ranges.map { range in range.flatMap { base?.advanced(by: $0.offset) } },
                ranges.map { $0?.length ?? 0 }, formats, 1)
        } == 1
    }

    /// Reads what has arrived. To be called when the socket is ready.
    /// - Returns: a result for each statement, once all are there.
    func receive() throws(PostgresFailure) -> [PostgresResult]? {
        guard postern_PQconsumeInput(pointer) == 1 else {
            throw .lost(wasSent: true, cause: message)
        }
        if !trip.isFlushed { try flush() }
        while postern_PQisBusy(pointer) == 0 {
            guard let raw = postern_PQgetResult(pointer) else {
                // One of these ends the results of each command.
                guard !trip.wasEmpty, isOpen else { throw .lost(wasSent: true, cause: message) }
                trip.wasEmpty = true
                trip.index += 1
                continue
            }
            trip.wasEmpty = false
            if try take(PostgresResult(raw), postern_PQresultStatus(raw)) {
                defer { trip.results = [] }
                return trip.results
            }
        }
        return nil
    }

    /// - Returns: whether this was the synchronisation point after all results.
    private func take(
        _ result: PostgresResult, _ status: ExecStatusType
    ) throws(PostgresFailure) -> Bool {
        let command = trip.index < trip.commands.count ? trip.commands[trip.index] : nil
        switch status {
        case PGRES_PIPELINE_SYNC:
            if let failure = trip.failure { throw .rejected(failure) }
            // The rows may be older than changes that another server has acknowledged.
            guard !isReadOnly else { throw .lost(wasSent: true, cause: Self.readOnly) }
            return true
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            if let command, command.isPreparation {
                prepared.insert(command.name)
            } else {
                trip.results.append(result)
            }
        case PGRES_PIPELINE_ABORTED: break
        default:
            let failure = trip.failure ?? result.failure(of: command?.name ?? "")
            trip.failure = failure
            guard isOpen, !failure.endsConnection else {
                throw .lost(wasSent: true, cause: message)
            }
        }
        return false
    }

    /// Whether the connection still exists after it was idle, and the server accepts writes.
    func isAlive() -> Bool {
        guard isOpen else { return false }
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        // A server that shuts down sends a message before it closes the connection.
        while poll(&descriptor, 1, 0) > 0 {
            guard postern_PQconsumeInput(pointer) == 1, isOpen else { return false }
        }
        return !isReadOnly
    }

    var socket: Int32 { postern_PQsocket(pointer) }

    /// - Returns: `false` when the socket was not ready in time.
    private func wait(until deadline: ContinuousClock.Instant) -> Bool {
        let events = Int16(trip.isFlushed ? POLLIN : POLLIN | POLLOUT)
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return false }
            var descriptor = pollfd(fd: socket, events: events, revents: 0)
            let count = poll(&descriptor, 1, Int32(clamping: left.milliseconds + 1))
            if count > 0 { return true }
            guard count == 0 || errno == EINTR else { return false }
        }
    }

    /// Reads what the server has sent by itself.
    /// - Returns: how many notifications came; `nil` when the connection is lost.
    func takeNotifications() -> Int? {
        guard postern_PQconsumeInput(pointer) == 1, isOpen, !isReadOnly else { return nil }
        var count = 0
        while let notification = postern_PQnotifies(pointer) {
            postern_PQfreemem(notification)
            count += 1
        }
        return count
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }
}

/// Limits and times of a PostgreSQL store.
struct PostgresSettings: Sendable {
    /// Connections for statements. One more listens for changes of keys and holds locks.
    var connections = 16
    /// Calls that may wait for a connection. Beyond: `StoreBusy`.
    var depth = 1024
    /// The part of that for one client or site.
    var shares = WorkerPool.Shares.ofQueue
    /// How long a call may wait for a connection. Beyond: `StoreBusy`.
    var waitTimeout: Duration = .seconds(5)
    /// For each host of the URL, unless the URL says otherwise; libpq takes whole seconds.
    var connectSeconds = 3
    /// How long a statement may take. Beyond: `StoreBusy`.
    var statementTimeout: Duration = .seconds(5)
    /// The same for the connection that listens. It is short, so that a change of keys is not
    /// missed for long if its server stops answering.
    var sessionTimeout: Duration = .seconds(2)
    /// How long a statement may wait for a lock. Beyond: `StoreBusy`.
    var lockTimeout: Duration = .seconds(4)
    /// The time for finding out whether a write was executed whose connection was lost.
    var recoveryTimeout: Duration = .seconds(10)
    /// How long ``PostgresStore/ping()`` waits for an answer.
    var pingTimeout: Duration = .seconds(2)
}
