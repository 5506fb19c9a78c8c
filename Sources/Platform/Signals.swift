internal import Dispatch
internal import Glibc
internal import Synchronization

/// Receives SIGTERM, SIGINT and SIGHUP (the terminal was closed) as requests to stop. A second
/// request ends the process at once. A SIGHUP that nohup(1) has set to be ignored stays ignored.
///
/// For a server, SIGHUP can also be a request to read the configuration again. It is one if a
/// process has sent it, and the server has no terminal or its terminal is still open.
///
/// Before `init` a signal has its default action and ends the process. After `init` every signal is
/// kept until it is waited for. No signal is lost in between, because the handler writes to a pipe
/// that exists before the handler is installed. (A Dispatch source for signals becomes active only
/// some time after `activate`.) If several requests to reload wait, only one is kept.
///
/// SIGPIPE is ignored, so that writing to a closed connection is an error of that write and not a
/// signal.
public actor StopSignals {
    /// Has an element for each request to read the configuration again.
    public nonisolated let reloads: AsyncStream<Void>
    private let source: any DispatchSourceRead
    private let stops: AsyncStream<Int32>

    /// - Parameter reloads: whether a SIGHUP may be a request to read the configuration again.
    public init(reloads isServer: Bool = false) {
        signal(SIGPIPE, SIG_IGN)
        let (stops, stop) = AsyncStream.makeStream(of: Int32.self)
        let (reloads, reload) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.stops = stops
        self.reloads = reloads
        let terminal = Terminal()
        let reader = Self.openPipe()
        let queue = DispatchQueue(label: "signals")
        source = DispatchSource.makeReadSource(fileDescriptor: reader, queue: queue)
        source.setEventHandler {
            var byte: UInt8 = 0
            while read(reader, &byte, 1) == 1 {
                let number = Int32(byte & ~Self.fromKernel)
                let isHangup = byte & Self.fromKernel != 0 || terminal.isClosed
                if isServer, number == SIGHUP, !isHangup {
                    reload.yield()
                } else {
                    stop.yield(number)
                }
            }
        }
        source.activate()
        for number in [SIGTERM, SIGINT, SIGHUP] { Self.installHandler(for: number) }
    }

    /// Returns the first signal that asks to stop; the next one ends the process with 128 and its
    /// number.
    public func wait() async -> Int32 {
        var signals = stops.makeAsyncIterator()
        let first = await signals.next() ?? SIGTERM
        let rest = stops
        Task {
            for await next in rest { _exit(128 + next) }
        }
        return first
    }

    public static func name(of number: Int32) -> String {
        switch number {
        case SIGINT: "SIGINT"
        case SIGHUP: "SIGHUP"
        default: "SIGTERM"
        }
    }

    /// Added to the number of a signal that was sent by the kernel and not by a process (`si_code`
    /// in sigaction(2)). The kernel sends one when a terminal is closed.
    private static let fromKernel: UInt8 = 0x80

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
        action.__sigaction_handler.sa_sigaction = { number, information, _ in
            // The interrupted code must find its errno unchanged (signal-safety(7)).
            let code = errno
            var byte = UInt8(truncatingIfNeeded: number)
            // Positive for the kernel alone.
            if let information, information.pointee.si_code > 0 { byte |= 0x80 }
            // A full pipe holds thousands of signals, and one more makes no difference.
            _ = write(signalWriter.load(ordering: .acquiring), &byte, 1)
            errno = code
        }
        action.sa_flags = SA_RESTART | SA_SIGINFO
        sigaction(number, &action, nil)
    }
}

/// The terminal that the process was started on, if it was.
///
/// When a terminal is closed, the kernel takes it from every process of its session and signals the
/// session leader. That is a shell, which passes the signal on to the programs that it has started,
/// as kill(1) does.
private struct Terminal: Sendable {
    private let wasThere = isThere

    var isClosed: Bool { wasThere && !Self.isThere }

    private static var isThere: Bool {
        let descriptor = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}

/// The pipe end that the handler writes to. The handler is a C function and cannot capture it.
private let signalWriter = Atomic<Int32>(-1)
