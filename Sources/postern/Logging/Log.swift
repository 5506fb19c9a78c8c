internal import AuthCore
internal import Configuration
internal import Glibc
internal import HTTPEngine
internal import Logging
internal import Networking
internal import Synchronization

/// The log of the program: messages, requests and audit events in one format, written to standard
/// error.
struct Log: Sendable {
    let writer: LogWriter
    let format: LogLine.Format
    private let sampling = AtomicSampling()

    /// Text on a terminal, JSON lines otherwise.
    static func toStandardError() -> Log {
        Log(descriptor: STDERR_FILENO, format: isatty(STDERR_FILENO) == 1 ? .text : .json)
    }

    init(descriptor: Int32, format: LogLine.Format, capacity: Int = 1_048_576) {
        self.format = format
        writer = LogWriter(descriptor: descriptor, capacity: capacity) { count in
            var line = LogLine(
                format, time: SystemClock.now(), level: "warning",
                message: "log lines were dropped: the reader of the log is too slow")
            line.add("dropped", count)
            return line.finish()
        }
    }

    var logger: Logger {
        Logger(label: "postern") { _ in LineLogHandler(log: self) }
    }

    /// The logged length of an unknown method. Longer ones would fill the log with text that a
    /// client chooses.
    private static let methodBytes = 32

    /// Sets which requests have a line. Before the first call all of them have one.
    func sampleAccess(_ sampling: AccessSampling) {
        self.sampling.threshold.store(sampling.threshold, ordering: .relaxed)
    }

    /// Logs one line for a request that is an error or in the sample. Runs on the event loops: it
    /// allocates only the line and takes only the lock of the writer.
    func access(_ record: AccessRecord) {
        let threshold = sampling.threshold.load(ordering: .relaxed)
        guard record.status >= 400 || record.id.sample <= threshold else { return }
        var line = LogLine(format, time: SystemClock.now(), level: "info", message: "request")
        // A method is ASCII (RFC 9110 §9.1), so bytes are enough. Finding characters would take
        // longer than everything else here.
        let method = record.method.map { Substring($0.name.utf8.prefix(Self.methodBytes)) }
        line.add(.method, method.map { String($0) } ?? "-")
        line.add(.route, record.route)
        line.add(.status, record.status)
        line.add(.bytes, record.bytes)
        line.add("microseconds", Int(record.duration / .microseconds(1)))
        line.add(.client, record.peer.address.description)
        if record.status >= 500 { line.add(.errorType, "\(record.status)") }
        line.add("id", record.requestID)
        if let trace = record.trace {
            line.add("trace_id", trace.traceID)
            line.add("span_id", trace.spanID)
        }
        writer.append(line.finish())
    }

    /// Logs one line for an audit event. Runs on the writer of the database and does not block.
    func event(_ event: AuditEvent) {
        var line = LogLine(format, time: event.time, level: "info", message: "credential event")
        line.add("kind", event.kind.rawValue)
        line.add("actor", event.actor.description)
        line.add("subject", event.subject)
        if !event.client.isEmpty { line.add(.client, event.client) }
        if !event.requestID.isEmpty { line.add("id", event.requestID) }
        writer.append(line.finish(), isEvent: true)
    }

    /// Logs one line for security events that were combined.
    /// - Parameter count: the number of events.
    func security(_ event: SecurityEvent, count: Int) {
        var line = LogLine(
            format, time: SystemClock.now(), level: "notice", message: "security event")
        line.add("kind", event.kind.rawValue)
        line.add("subject", event.subject)
        if let client = event.client { line.add(.client, client.description) }
        if !event.requestID.isEmpty { line.add("id", event.requestID) }
        line.add("count", count)
        writer.append(line.finish(), isEvent: true)
    }
}

/// The threshold of an ``AccessSampling``, which every loop reads for each request.
private final class AtomicSampling: Sendable {
    let threshold = Atomic(AccessSampling.all.threshold)
}

/// Writes the messages of swift-log in the format of the program.
struct LineLogHandler: LogHandler {
    let log: Log
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    var logLevel = Logger.Level.info

    init(log: Log) {
        self.log = log
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = LogLine(
            log.format, time: SystemClock.now(), level: event.level.name,
            message: "\(event.message)")
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        if let given = event.metadata { all.merge(given) { $1 } }
        for (name, value) in all.sorted(by: { $0.key < $1.key }) { line.add(name, "\(value)") }
        if let error = event.error {
            line.add(.errorType, "\(type(of: error))")
            line.add(.error, "\(error)")
        }
        log.writer.append(line.finish())
    }
}

extension Logger.Level {
    fileprivate var name: StaticString {
        switch self {
        case .trace: "trace"
        case .debug: "debug"
        case .info: "info"
        case .notice: "notice"
        case .warning: "warning"
        case .error: "error"
        case .critical: "critical"
        }
    }
}

extension RequestID {
    /// Fibonacci hashing (2^64 divided by the golden ratio): requests that follow each other are
    /// spread evenly, so a share of 1 % is one of about a hundred in a row. It is 0 for no request,
    /// because their numbers begin with 1.
    var sample: UInt64 { number &* 0x9e37_79b9_7f4a_7c15 }
}
