internal import Dispatch
internal import Glibc
internal import Synchronization

/// Turns SIGTERM, SIGINT and SIGHUP (the terminal went away) into one event: somebody wants us to
/// stop. The second one ends the process at once. What nohup(1) had ignored stays ignored.
///
/// Promises: until `init` a signal has its default action and ends the process; from then on it is
/// kept until somebody waits. There is no moment between: the handler writes to a pipe that is
/// there before it, while a Dispatch source of signals is in place only some time after it is
/// activated. SIGPIPE is ignored: a client that hung up is an error of one write.
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
        for number in [SIGTERM, SIGINT, SIGHUP] { Self.keep(number) }
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

    /// The end to read signals from. Neither end is ever closed: a handler may always run.
    private static func openPipe() -> Int32 {
        var ends: [Int32] = [-1, -1]
        let result = pipe(&ends)
        precondition(result == 0, "a process that has only begun has descriptors left")
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // A handler that waits for room would wait for the thread it interrupted.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        signalWriter.store(ends[1], ordering: .releasing)
        return ends[0]
    }

    private static func keep(_ number: Int32) {
        var before = sigaction()
        sigaction(number, nil, &before)
        // SIG_IGN is a cast, which Swift cannot compare; its bits are those of 1.
        let isIgnored = unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == 1
        if number == SIGHUP && isIgnored { return }
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            // Whatever was interrupted looks at its own errno (signal-safety(7)).
            let code = errno
            var octet = UInt8(truncatingIfNeeded: number)
            // A full pipe holds thousands of signals already.
            _ = write(signalWriter.load(ordering: .acquiring), &octet, 1)
            errno = code
        }
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }
}

/// Where the handler writes; it is a C function and can be handed nothing.
private let signalWriter = Atomic<Int32>(-1)
