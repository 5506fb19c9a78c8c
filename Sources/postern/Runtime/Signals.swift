internal import Dispatch
internal import Glibc

/// Turns SIGTERM and SIGINT into one event: somebody wants us to stop. The second one ends the
/// process at once.
///
/// A signal that arrives while the program is still starting is kept until somebody waits. SIGPIPE
/// is ignored: a client that hung up is an error of one write.
actor StopSignals {
    private let sources: [any DispatchSourceSignal]
    private let stream: AsyncStream<Int32>

    init() {
        signal(SIGPIPE, SIG_IGN)
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        self.stream = stream
        let queue = DispatchQueue(label: "signals")
        sources = [SIGTERM, SIGINT].map { number in
            // The default action would come before the source.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { continuation.yield(number) }
            source.activate()
            return source
        }
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
}
