internal import CSocket

/// One connection to a ``NetstringService``. Moves bytes between the transport and its
/// ``NetstringSession``, and runs one answer at a time.
///
/// Confined to its loop, as ``Connection``. The transport is closed in `close` and nowhere else.
final class NetstringConnection: LoopConnection {
    private var service: NetstringService
    private let listener: Int
    private let address: ListenAddress
    private let transport: PlainTransport
    private var session: NetstringSession
    private var answer: Task<Void, Never>?
    private var isRunning = false
    private var registration = EpollRegistration()

    init(
        _ transport: PlainTransport, of listener: Int = 0, to address: ListenAddress,
        _ service: NetstringService, limits: NetstringSession.Limits, at now: MonotonicTime
    ) {
        self.transport = transport
        self.listener = listener
        self.address = address
        self.service = service
        session = NetstringSession(limits: limits, requestBytes: service.requestBytes, at: now)
    }

    var descriptor: Int32 { transport.descriptor }

    func serve(_ services: [Listener.Service]) {
        if case .netstrings(let next) = services[listener] { service = service.answering(as: next) }
    }

    func open(on loop: isolated Loop) { run(on: loop) }

    func ready(_ events: UInt32, on loop: isolated Loop) {
        if session.wantsBytes {
            receive(on: loop)
        } else if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
            // An event while reading is off means that the peer has closed both directions.
            close(on: loop)
        }
        run(on: loop)
    }

    func tick(on loop: isolated Loop) {
        if session.hasExpired(at: loop.now) { return close(on: loop) }
        session.releaseBuffers()
    }

    /// Answers the requests that have arrived, and closes.
    func drain(on loop: isolated Loop) {
        if session.wantsBytes { receive(on: loop) }
        session.endInput()
        run(on: loop)
    }

    func abort(on loop: isolated Loop) { close(on: loop) }

    func release(on loop: isolated Loop) { service.limiter.release(nil) }

    /// Answers as long as there is something to answer, and sends each reply.
    private func run(on loop: isolated Loop) {
        guard !isRunning, !session.isClosed else { return }
        isRunning = true
        var step: NetstringSession.Step
        repeat {
            send(on: loop)
            step = session.next()
            perform(step, on: loop)
        } while step != .wait
        isRunning = false
        watch(on: loop)
    }

    private func perform(_ step: NetstringSession.Step, on loop: isolated Loop) {
        switch step {
        case .wait: break
        case .answer(let request): begin(request, on: loop)
        case .answerOversized: session.reply(service.oversized, at: loop.now)
        case .close: close(on: loop)
        case .reject:
            loop.report(NetstringError(listener: address), for: nil)
            close(on: loop)
        }
    }

    private func begin(_ request: [UInt8], on loop: isolated Loop) {
        loop.requestsInFlight.increment()
        let started = Task.immediate {
            do {
                self.finish(try await self.service.answer(request), on: loop)
            } catch {
                // A client that has gone is not a fault.
                if !(error is CancellationError) { loop.report(error, for: loop.nextID()) }
                self.finish(self.service.failed, on: loop)
            }
        }
        answer = session.isAnswering ? started : nil
    }

    private func finish(_ reply: [UInt8], on loop: isolated Loop) {
        answer = nil
        loop.requestsInFlight.decrement()
        loop.counts.netstrings &+= 1
        guard !session.isClosed else { return }
        session.reply(reply, at: loop.refresh())
        if loop.isDraining { session.endInput() }
        run(on: loop)
    }

    /// Reads at most one buffer, so that a fast sender does not delay other connections.
    private func receive(on loop: isolated Loop) {
        withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 16) { buffer in
            switch transport.receive(into: buffer) {
            case .bytes(let count):
                loop.counts.receivedBytes &+= count
                session.receive(
                    UnsafeRawBufferPointer(rebasing: buffer[..<count]), at: loop.now)
            case .wouldBlock: break
            case .end: session.endInput()
            case .failed: close(on: loop)
            }
        }
    }

    private func send(on loop: isolated Loop) {
        while session.unsentBytes > 0 {
            switch session.withUnsentBytes({ transport.send($0) }) {
            case .bytes(let count):
                loop.counts.sentBytes &+= count
                session.sent(count, at: loop.now)
            case .wouldBlock: return
            case .end, .failed: return close(on: loop)
            }
        }
    }

    /// Tells the kernel which events to report, when that has changed.
    private func watch(on loop: isolated Loop) {
        guard !session.isClosed else { return }
        let events =
            (session.wantsBytes ? EPOLLIN.rawValue : 0)
            | (session.unsentBytes > 0 ? EPOLLOUT.rawValue : 0)
        if !registration.update(descriptor, events, on: loop) { close(on: loop) }
    }

    private func close(on loop: isolated Loop) {
        guard !session.isClosed else { return }
        session.close()
        loop.forget(self)
        transport.close()
        answer?.cancel()
        answer = nil
    }
}
