internal import CSocket
internal import Networking

/// One connection to a ``SessionService``. Moves bytes between the transport and its session, and
/// asks the service one question at a time.
///
/// Guarantees: bytes are read only while the session wants them, at most one buffer a turn, so that
/// a fast sender does not delay other connections. A deadline begins with its phase, and no byte
/// extends it.
///
/// Confined to its loop, as ``Connection``. The transport is closed in `close` and nowhere else.
final class SessionConnection<Session: ByteSession>: LoopConnection {
    private enum Phase {
        case serving
        /// Everything is sent. What arrives is dropped until the client closes.
        case lingering
        case closed
    }

    /// What ``deadline`` is the end of.
    private enum Period: Equatable {
        case session(Int)
        case writing
        case lingering
    }

    private let transport: PlainTransport
    private let place: SessionPlace
    private let service: SessionService
    private var handler: SessionHandler<Session>
    private var session: Session
    private var phase = Phase.serving
    private var output: [UInt8] = []
    private var sentBytes = 0
    private var hasInputEnded = false
    private var isAnswering = false
    private var answer: Task<Void, Never>?
    private var exceedsMemory = false
    private var isRunning = false
    private var charge: BufferCharge
    private var registration = EpollRegistration()
    private let writeLimit: MonotonicTime.Interval
    private let lingerLimit: MonotonicTime.Interval
    /// The end of the connection.
    private let end: MonotonicTime?
    private var period: Period?
    private var deadline: MonotonicTime?

    init(
        _ transport: PlainTransport, _ place: SessionPlace, _ service: SessionService,
        _ handler: SessionHandler<Session>, _ context: ServerContext, at now: MonotonicTime
    ) {
        self.transport = transport
        self.place = place
        self.service = service
        self.handler = handler
        session = handler.begin(place.peer, context)
        charge = BufferCharge(budget: service.budget)
        writeLimit = context.phaseLimits.write
        lingerLimit = context.phaseLimits.linger
        end = service.limits.time.map { now + MonotonicTime.Interval($0) }
    }

    var descriptor: Int32 { transport.descriptor }

    var pendingWork: String? {
        guard phase == .serving else { return nil }
        return hasOutput ? "a client to read its reply" : "a question of a session"
    }

    func serve(_ services: [Listener.Service]) {
        guard case .session(let next) = services[place.listener],
            let next = next.handler as? SessionHandler<Session>
        else { return }
        handler = next
    }

    func open(on loop: isolated Loop) { run(on: loop) }

    func resume(on loop: isolated Loop) { run(on: loop) }

    func ready(_ events: UInt32, on loop: isolated Loop) {
        if wantsInput {
            receive(on: loop)
        } else if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
            // An event while reading is off means that the peer has closed both directions.
            close(on: loop)
        }
        run(on: loop)
    }

    func tick(on loop: isolated Loop) {
        let isOver = end.map { $0 <= loop.now } ?? false
        let isLate = deadline.map { $0 <= loop.now } ?? false
        guard isOver || isLate else { return session.releaseBuffers() }
        if phase == .lingering || isLate && hasOutput { return close(on: loop) }
        end(.time, on: loop)
    }

    func drain(on loop: isolated Loop) {
        if phase == .lingering { return close(on: loop) }
        if wantsInput { receive(on: loop) }
        end(.shutdown, on: loop)
    }

    func abort(on loop: isolated Loop) { close(on: loop) }

    func release(on loop: isolated Loop) { service.limiter.release(place.peer.address) }

    private var hasOutput: Bool { sentBytes < output.count }

    private var wantsInput: Bool {
        switch phase {
        case .serving: !hasInputEnded && !hasOutput && session.wantsInput
        case .lingering: true
        case .closed: false
        }
    }

    private func end(_ reason: SessionEnd, on loop: isolated Loop) {
        guard phase == .serving else { return }
        session.end(reason)
        run(on: loop)
    }

    /// Does what the session says, until it waits or the client has to read first.
    private func run(on loop: isolated Loop) {
        guard !isRunning, phase != .closed else { return }
        isRunning = true
        send(on: loop)
        while phase == .serving, !hasOutput, let action = session.next() {
            perform(action, on: loop)
        }
        isRunning = false
        chargeBytes(on: loop)
        setDeadline(on: loop)
        watch(on: loop)
    }

    private func perform(_ action: SessionAction<Session.Question>, on loop: isolated Loop) {
        switch action {
        case .send(let bytes):
            output = bytes
            sentBytes = 0
            send(on: loop)
        case .ask(let question): ask(question, on: loop)
        case .close(lingers: true) where !hasInputEnded:
            transport.endOutput()
            phase = .lingering
        case .close: close(on: loop)
        case .reject:
            if let error = service.inputErrors.note(of: place.address, at: .now) {
                loop.report(error, for: nil)
            }
            close(on: loop)
        }
    }

    private func ask(_ question: Session.Question, on loop: isolated Loop) {
        loop.requestsInFlight.increment()
        isAnswering = true
        let started = Task.immediate {
            do {
                let answer = try await self.handler.answer(question)
                self.finish(on: loop) { $0.answer(answer) }
            } catch {
                // A client that has gone is not a fault.
                if !(error is CancellationError) { loop.report(error, for: loop.nextID()) }
                self.finish(on: loop) { $0.answerFailed() }
            }
        }
        answer = isAnswering ? started : nil
    }

    private func finish(on loop: isolated Loop, _ answer: (inout Session) -> Void) {
        isAnswering = false
        self.answer = nil
        loop.requestsInFlight.decrement()
        if handler.areNetstrings { loop.counts.netstrings &+= 1 }
        guard phase == .serving else { return }
        answer(&session)
        if loop.isDraining { session.end(.shutdown) }
        loop.refresh()
        run(on: loop)
    }

    private func receive(on loop: isolated Loop) {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { buffer in
            switch transport.receive(into: buffer) {
            case .bytes(let count):
                loop.counts.receivedBytes &+= count
                guard phase == .serving else { return }
                session.receive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            case .wouldBlock: break
            case .end:
                hasInputEnded = true
                if phase == .lingering { close(on: loop) } else { session.end(.input) }
            case .failed: close(on: loop)
            }
        }
    }

    private func send(on loop: isolated Loop) {
        while hasOutput {
            let result = output.withUnsafeBytes {
                transport.send(UnsafeRawBufferPointer(rebasing: $0[sentBytes...]))
            }
            switch result {
            case .bytes(let count):
                loop.counts.sentBytes &+= count
                sentBytes += count
            case .wouldBlock: return
            case .end, .failed: return close(on: loop)
            }
        }
        output = []
        sentBytes = 0
        if period == .writing { period = nil }
    }

    /// Ends the session, once, if all together hold more than they may.
    private func chargeBytes(on loop: isolated Loop) {
        guard phase == .serving, !exceedsMemory,
            !charge.update(heldBytes: session.heldBytes + output.count)
        else { return }
        exceedsMemory = true
        loop.context.rejections.count(.bufferLimit)
        end(.memory, on: loop)
    }

    /// What is sent or dropped in a period does not extend it.
    private func setDeadline(on loop: isolated Loop) {
        let timer = session.timer
        let (next, limit): (Period, MonotonicTime.Interval?) =
            switch phase {
            case .serving where hasOutput: (.writing, writeLimit)
            case .serving: (.session(timer.number), timer.limit.map { .init($0) })
            case .lingering: (.lingering, lingerLimit)
            case .closed: (.lingering, nil)
            }
        guard next != period else { return }
        period = next
        deadline = limit.map { loop.now + $0 }
    }

    /// Tells the kernel which events to report, when that has changed.
    private func watch(on loop: isolated Loop) {
        guard phase != .closed else { return }
        let events =
            (wantsInput ? EPOLLIN.rawValue : 0) | (hasOutput ? EPOLLOUT.rawValue : 0)
        if !registration.update(descriptor, events, on: loop) { close(on: loop) }
    }

    private func close(on loop: isolated Loop) {
        guard phase != .closed else { return }
        phase = .closed
        _ = charge.update(heldBytes: 0)
        loop.forget(self)
        transport.close()
        answer?.cancel()
        answer = nil
    }
}
