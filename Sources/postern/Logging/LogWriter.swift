internal import Dispatch
internal import Glibc
internal import Synchronization

/// Takes whole log lines from any thread and writes them to a descriptor from a queue of its own.
///
/// Promises: `append` neither blocks nor makes a system call, whatever the reader of the log does.
/// At most `capacity` octets wait; beyond that lines are dropped, and how many is said as soon as
/// there is room again. A line waits at most ``delay``, so a crash can lose that much.
final class LogWriter: Sendable {
    static let delay = DispatchTimeInterval.milliseconds(50)
    /// How long a reader may leave the pipe full before what waits is given up.
    private static let patience: Int32 = 1000
    /// PIPE_BUF: when a pipe is writable, so much goes without blocking (POSIX write, O_NONBLOCK
    /// being a property that we would force on everybody who shares standard error).
    private static let pipeOctets = 4096
    /// A buffer that a burst has grown beyond this is given back.
    private static let keptOctets = 65_536

    private struct State {
        var waiting: [UInt8] = []
        /// Emptied and swapped in again, so that steady logging allocates nothing.
        var spare: [UInt8] = []
        var dropped = 0
        var isScheduled = false
    }

    private let descriptor: Int32
    private let capacity: Int
    /// Makes the line that reports dropped ones.
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

    /// - Parameter line: with its newline.
    func append(_ line: [UInt8]) {
        let schedules = state.withLock { state in
            guard state.waiting.count + line.count <= capacity else {
                state.dropped += 1
                return false
            }
            state.waiting += line
            guard !state.isScheduled else { return false }
            state.isScheduled = true
            return true
        }
        if schedules { queue.asyncAfter(deadline: .now() + Self.delay) { self.flush() } }
    }

    /// Returns when everything that was appended before is written, or given up.
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
        var (batch, dropped) = state.withLock { state in
            let taken = (state.waiting, state.dropped)
            state.waiting = state.spare
            state.spare = []
            state.dropped = 0
            state.isScheduled = false
            return taken
        }
        if dropped > 0 { batch += report(dropped) }
        let lost = write(batch) ? 0 : batch.count { $0 == 0x0a }
        batch.removeAll(keepingCapacity: batch.capacity <= Self.keptOctets)
        state.withLock { state in
            state.dropped += lost
            state.spare = batch
        }
    }

    /// - Returns: whether all of it went.
    private func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let ready = Glibc.poll(&poll, 1, Self.patience)
            if ready < 0 && errno == EINTR { continue }
            guard ready > 0 else { return false }
            let count = rest.prefix(Self.pipeOctets).withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
