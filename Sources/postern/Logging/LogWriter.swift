internal import Dispatch
internal import Glibc
internal import Synchronization

/// Accepts log lines from any thread and writes them to a descriptor on its own queue.
///
/// `append` never blocks and makes no system call, even if nobody reads the log. At most `capacity`
/// bytes of ordinary lines wait, and the same number of bytes of events. Further lines are dropped,
/// and a line with their number follows as soon as there is space. Events have their own space, so
/// a flood of requests cannot displace them. A line waits at most ``delay``, so a crash can lose
/// the lines of that time.
final class LogWriter: Sendable {
    static let delay = DispatchTimeInterval.milliseconds(50)
    /// The time after which events that could not be written are tried again.
    private static let retryDelay = DispatchTimeInterval.seconds(1)
    /// How long, in milliseconds, the reader may leave the pipe full before waiting lines are
    /// dropped.
    private static let writeTimeout: Int32 = 1000
    /// PIPE_BUF: a writable pipe accepts this many bytes without blocking (POSIX `write`).
    /// O_NONBLOCK cannot be used instead, because it would change standard error for every process
    /// that shares it.
    private static let pipeBytes = 4096
    /// The buffer is kept for the next lines unless it has grown beyond this.
    private static let keptBytes = 65_536

    private struct State {
        var events: [UInt8] = []
        var waiting: [UInt8] = []
        /// The empty buffer that is used next, so that steady logging does not allocate.
        var spare: [UInt8] = []
        var dropped = 0
        var isScheduled = false
    }

    private let descriptor: Int32
    private let capacity: Int
    /// Makes the line that reports the number of dropped lines.
    private let report: @Sendable (Int) -> [UInt8]
    private let queue = DispatchQueue(label: "log")
    private let state = Mutex(State())

    init(
        descriptor: Int32, capacity: Int = 1_048_576, report: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.descriptor = descriptor
        self.capacity = capacity
        self.report = report
    }

    /// - Parameters:
    ///   - line: with its newline.
    ///   - isEvent: whether it is kept when other lines have to be dropped.
    func append(_ line: [UInt8], isEvent: Bool = false) {
        let schedules = state.withLock { state in
            let waiting = isEvent ? state.events.count : state.waiting.count
            guard waiting + line.count <= capacity else {
                state.dropped += 1
                return false
            }
            if isEvent { state.events += line } else { state.waiting += line }
            guard !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        if schedules { queue.asyncAfter(deadline: .now() + Self.delay) { self.flush() } }
    }

    /// Returns when all lines that were appended before have been written or dropped. If the reader
    /// does not read, events are kept.
    func drain() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.flush()
                continuation.resume()
            }
        }
    }

    private func flush() {
        dispatchPrecondition(condition: .onQueue(queue))
        var (events, batch, dropped) = state.withLock { state in
            let taken = (state.events, state.waiting, state.dropped)
            state.events = []
            state.waiting = state.spare
            state.spare = []
            state.dropped = 0
            state.isScheduled = false
            return taken
        }
        if dropped > 0 { batch += report(dropped) }
        events.removeFirst(write(events))
        // The rest may begin in the middle of a line, so nothing may be written before it.
        let isWritten = events.isEmpty && write(batch) == batch.count
        let lost = isWritten ? 0 : batch.count { $0 == 0x0a }
        batch.removeAll(keepingCapacity: batch.capacity <= Self.keptBytes)
        let retries = state.withLock { state in
            state.events = events + state.events
            state.dropped += lost
            state.spare = batch
            guard !events.isEmpty, !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        // The next line may come much later.
        if retries { queue.asyncAfter(deadline: .now() + Self.retryDelay) { self.flush() } }
    }

    /// - Returns: how many of the bytes were written.
    private func write(_ bytes: [UInt8]) -> Int {
        var rest = bytes[...]
        while !rest.isEmpty {
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let ready = Glibc.poll(&poll, 1, Self.writeTimeout)
            if ready < 0 && errno == EINTR { continue }
            guard ready > 0 else { break }
            let count = rest.prefix(Self.pipeBytes).withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        return bytes.count - rest.count
    }
}
