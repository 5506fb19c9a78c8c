internal import Dispatch
internal import Glibc
internal import Synchronization

/// Receives SIGTERM, SIGINT and SIGHUP (the terminal was closed) as requests to stop. A second
/// signal ends the process at once. A SIGHUP that nohup(1) has set to be ignored stays ignored.
///
/// Before `init` a signal has its default action and ends the process. After it every signal is
/// kept until ``wait()``, without a gap: the handler writes to a pipe that exists before the
/// handler is installed. (A Dispatch source for signals becomes active only some time after
/// `activate()`.)
/// SIGPIPE is ignored, so that writing to a closed connection is an error of that write.
actor StopSignals {
    private let source: any DispatchSourceRead
    private let stream: AsyncStream<Int32>

    init() {
        signal(SIGPIPE, SIG_IGN)
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.stream = stream
        let reader = Self.openPipe()
        let queue = DispatchQueue(label: "signals")
        source = DispatchSource.makeReadSource(fileDescriptor: reader, queue: queue)
        source.setEventHandler {
            var number: UInt8 = 0
            while read(reader, &number, 1) == 1 { continuation.yield(Int32(number)) }
        }
        source.activate()
        for number in [SIGTERM, SIGINT, SIGHUP] { Self.installHandler(for: number) }
    }

    /// Returns the first signal; the next one ends the process with 128 and its number.
    func wait() async -> Int32 {
        var signals = stream.makeAsyncIterator()
        let first = await signals.next() ?? SIGTERM
        let rest = stream
        Task {
            for await next in rest { _exit(128 + next) }
        }
        return first
    }

    static func name(of number: Int32) -> String {
        switch number {
        case SIGINT: "SIGINT"
        case SIGHUP: "SIGHUP"
        default: "SIGTERM"
        }
    }

    /// Returns the end to read signals from. Neither end is ever closed, because a handler may run
    /// at any time.
    private static func openPipe() -> Int32 {
        var ends: [Int32] = [-1, -1]
        let result = pipe(&ends)
        precondition(result == 0, "a process that has just started has free descriptors")
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // A handler that blocks on a full pipe would block the thread that it interrupted.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        signalWriter.store(ends[1], ordering: .releasing)
        return ends[0]
    }

    private static func installHandler(for number: Int32) {
        var before = sigaction()
        sigaction(number, nil, &before)
        // SIG_IGN is 1 cast to a function pointer, which Swift cannot compare.
        let isIgnored = unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == 1
        if number == SIGHUP && isIgnored { return }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // The interrupted code must find its errno unchanged (signal-safety(7)).
            let code = errno
            var byte = UInt8(truncatingIfNeeded: number)
            // A full pipe holds thousands of signals, and one more makes no difference.
            _ = write(signalWriter.load(ordering: .acquiring), &byte, 1)
            errno = code
        }
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }
}

/// The pipe end that the handler writes to. The handler is a C function and cannot capture it.
private let signalWriter = Atomic<Int32>(-1)
