internal import Scheduling
internal import Synchronization

/// The metrics of the server. Each part of the program reports its own, and they are written on
/// request.
///
/// Use: each part adds a source once. Sources read counters, and neither the database nor another
/// server. They run on a separate queue, so that no request waits for them.
public actor Metrics {
    /// Writes its metrics.
    public typealias Source = @Sendable (inout MetricsText) async -> Void

    private let executor = QueueExecutor(label: "metrics")
    private nonisolated let sources = Mutex<[Source]>([])

    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    public init() {}

    /// Adds metrics after those that were added before.
    public nonisolated func add(_ source: @escaping Source) {
        sources.withLock { $0.append(source) }
    }

    /// Everything in the text format of Prometheus.
    public func text() async -> [UInt8] {
        var text = MetricsText()
        for source in sources.withLock({ $0 }) { await source(&text) }
        return text.bytes
    }
}
