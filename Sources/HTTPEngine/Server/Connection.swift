internal import CSocket
internal import Networking

/// One client's connection. Connects its parts: it moves bytes between the transport and
/// ``ConnectionInput`` and ``ConnectionOutput``, runs one handler at a time, and does what
/// ``ConnectionPhase`` decides.
///
/// Confined to its loop: every method that does something takes the loop as its isolation. The
/// transport is closed in `perform(.close)` and nowhere else.
final class Connection: LoopConnection {
    private(set) var admission: Admission
    let limiter: ConnectionLimiter
    private let listener: Int
    private var transport: ConnectionTransport
    var input: ConnectionInput
    var output: ConnectionOutput
    var phase: ConnectionPhase
    var charge: BufferCharge
    /// Runs the handler of the current request, and then sends the stream of its response.
    private var handler: Task<Void, Never>?
    private var (isStreaming, isRunning) = (false, false)
    /// A request was answered 503 because the buffer budget was used up.
    var isOverBudget = false
    /// It waits for the other connections before it goes on with what has arrived.
    private var isBehind = false
    /// Steps of one turn: eight requests. A client may have sent hundreds at once.
    private static let stepsOfTurn = 16
    private var registration = EpollRegistration()

    init(
        _ transport: ConnectionTransport, service: HTTPService, of listener: Int = 0,
        peer: SocketAddress, admission: Admission, context: ServerContext, at now: MonotonicTime
    ) {
        self.transport = transport
        self.admission = admission
        self.listener = listener
        limiter = context.limiter(of: service)
        input = ConnectionInput(
            peer: peer, service: service, awaitsProxyHeader: admission == .unassigned,
            limits: context.parserLimits, bodyBytes: context.configuration.bodyBytes, at: now)
        output = ConnectionOutput(limits: context.outputLimits)
        phase = ConnectionPhase(limits: context.phaseLimits, at: now)
        charge = BufferCharge(budget: context.budget, client: admission.client(peer))
    }

    var descriptor: Int32 { transport.descriptor }

    /// The other end of the connection; after a PROXY header the client that it names.
    var peer: SocketAddress { input.peer }

    var pendingWork: String? { output.pendingWork ?? phase.pendingWork }

    func serve(_ services: [Listener.Service]) {
        if case .http(let service) = services[listener] { input.serve(service) }
    }

    func open(on loop: isolated Loop) { run(on: loop) }

    func ready(_ events: UInt32, on loop: isolated Loop) {
        if events & EPOLLOUT.rawValue != 0 { run(on: loop) }
        if transport.isEstablished, wantsBytes {
            receive(on: loop)
        } else if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 {
            // An event while reading is off means that the peer has closed both directions.
            perform(phase.close(), on: loop)
        }
        run(on: loop)
    }

    func tick(on loop: isolated Loop) {
        input.releaseBuffers()
        output.releaseBuffers()
        let action = phase.expire(output, at: loop.now)
        guard action != .none else { return }
        perform(action, on: loop)
        run(on: loop)
    }

    func drain(on loop: isolated Loop) {
        if isStreaming || output.isLongPoll { handler?.cancel() }
        ready(0, on: loop)
        perform(phase.drain(output, at: loop.now), on: loop)
    }

    func abort(on loop: isolated Loop) { perform(phase.close(), on: loop) }

    func resume(on loop: isolated Loop) {
        isBehind = false
        run(on: loop)
    }

    private var wantsBytes: Bool { phase.wantsBytes(output) && !isBehind }

    /// Parses and answers as long as there is something to do, or for its part of the turn, then
    /// sends everything at once.
    private func run(on loop: isolated Loop) {
        guard !isRunning, phase.closing != .closed else { return }
        isRunning = true
        var steps = 0
        if establish(on: loop) {
            repeat {
                var wasFull: Bool
                repeat {
                    while steps < Self.stepsOfTurn, step(on: loop) { steps += 1 }
                    wasFull = output.isFull
                    send(on: loop)
                } while wasFull && !output.isFull && phase.closing != .closed
            } while rejectsForMemory(on: loop)
        }
        isRunning = false
        if steps == Self.stepsOfTurn, !isBehind, phase.closing != .closed {
            isBehind = true
            loop.resume(descriptor)
        }
        if loop.isStopping { perform(phase.drain(output, at: loop.now), on: loop) }
        watch(on: loop)
    }

    /// Takes the handshake of the transport a step further.
    /// - Returns: whether it is done.
    private func establish(on loop: isolated Loop) -> Bool {
        guard !transport.isEstablished else { return true }
        guard !transport.isBeforeTLS || readProxyHeader(on: loop) else { return false }
        switch transport.establish() {
        case .done: if admission == .rejected { rejectForOverload(on: loop) }
        case .wouldBlock: break
        case .notEncrypted:
            loop.context.rejections.count(.failedHandshake)
            reject(.malformed(.notEncrypted), on: loop)
        case .failed:
            loop.context.rejections.count(.failedHandshake)
            perform(phase.close(), on: loop)
        }
        return transport.isEstablished
    }

    /// Answers one exchange or parses one event.
    /// - Returns: false when there is nothing to do now.
    private func step(on loop: isolated Loop) -> Bool {
        if let exchange = output.dequeue() {
            begin(exchange, on: loop)
            return true
        }
        if output.isCaughtUp, input.takeContinue() {
            output.write(ResponseEncoder.continueResponse)
        }
        guard phase.takesRequests(output) else { return false }
        switch input.next(id: loop.nextID(), at: loop.now) {
        case .needMore: return false
        case .bodyExpected: phase.bodyBegan(isDropped: false, at: loop.now)
        case .exchange(let exchange, let next):
            output.enqueue(exchange)
            switch next {
            case .request: phase.requestEnded(more: input.hasUnreadBytes, at: loop.now)
            case .droppedBody: phase.bodyBegan(isDropped: true, at: loop.now)
            case .nothing(let lingers): phase.endInput(lingers: lingers)
            }
        case .bodyDropped: phase.requestEnded(more: input.hasUnreadBytes, at: loop.now)
        case .rejected(let exchange): finishInput(exchange)
        }
        return true
    }

    func perform(_ action: ConnectionPhase.Action, on loop: isolated Loop) {
        switch action {
        case .none: break
        case .answerTimeout: reject(.timeout, on: loop)
        case .linger: transport.endOutput()
        case .close:
            if input.hasPartialProxyHeader {
                loop.report(ProxyHeaderError(peer: peer, reason: .truncated), for: nil)
            }
            loop.forget(self)
            transport.close()
            input.discard()
            output.discard()
            _ = charge.update(heldBytes: 0)
            handler.take()?.cancel()
        }
    }

    /// Tells the kernel which events to report, when that has changed.
    private func watch(on loop: isolated Loop) {
        guard phase.closing != .closed else { return }
        let events = transport.events(
            reads: wantsBytes, writes: output.unsentBytes > 0)
        if !registration.update(descriptor, events, on: loop) { perform(phase.close(), on: loop) }
    }
}

// MARK: - Receiving

extension Connection {
    /// Reads at most one buffer, so that a fast sender does not delay other connections.
    private func receive(on loop: isolated Loop) {
        withUnsafeTemporaryAllocation(byteCount: 16_384, alignment: 16) { buffer in
            switch transport.receive(into: buffer) {
            case .bytes(let count):
                loop.counts.receivedBytes &+= count
                let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if phase.reading != .ended { handle(input.receive(bytes, at: loop.now), on: loop) }
                wipe(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
            case .wouldBlock: break
            case .end: end(on: loop)
            case .failed: perform(phase.close(), on: loop)
            }
        }
    }

    /// Reads the PROXY header before the TLS handshake, and nothing after it.
    /// - Returns: whether it is complete.
    private func readProxyHeader(on loop: isolated Loop) -> Bool {
        var received = ConnectionInput.Received.incompleteProxyHeader
        let result = transport.receiveHeader { bytes in
            let (what, count) = input.receiveProxyHeader(bytes)
            received = what
            return count
        }
        switch result {
        case .bytes: handle(received, on: loop)
        case .wouldBlock: break
        case .end, .failed: perform(phase.close(), on: loop)
        }
        guard received == .proxyHeader, phase.closing != .closed else { return false }
        transport.beginTLS()
        return true
    }

    private func handle(_ received: ConnectionInput.Received, on loop: isolated Loop) {
        switch received {
        case .requestBytes: phase.bytesArrived(at: loop.now)
        case .incompleteProxyHeader: break
        case .proxyHeader:
            assignClient(on: loop)
            if input.hasUnreadBytes, phase.reading != .ended { phase.bytesArrived(at: loop.now) }
        case .invalidProxyHeader(let reason):
            loop.report(ProxyHeaderError(peer: peer, reason: reason), for: nil)
            loop.context.rejections.count(.invalidProxyHeader)
            perform(phase.close(), on: loop)
        }
    }

    /// The peer will send no more. A request that is incomplete is answered 400.
    private func end(on loop: isolated Loop) {
        if phase.isReadingRequest, !input.isBetweenRequests {
            reject(.malformed(.truncated), on: loop)
        }
        // Nobody may read the rest of a stream, which need not have an end.
        perform(
            isStreaming ? phase.close() : phase.peerEnded(output, at: loop.now), on: loop)
    }

    /// The PROXY header has named the client. From here on the connection counts for that client.
    private func assignClient(on loop: isolated Loop) {
        if input.isOfProxy {
            admission = .exempt
        } else if limiter.assign(input.peer.address) {
            admission = .counted
            charge.assign(input.peer.address)
        } else if loop.acquireRejected() {
            limiter.release(nil)
            admission = .rejected
            if transport.isEstablished { rejectForOverload(on: loop) }
        } else {
            perform(phase.close(), on: loop)
        }
    }
}

// MARK: - Answering

extension Connection {
    private func begin(_ exchange: Exchange, on loop: isolated Loop) {
        loop.requestsInFlight.increment()
        switch exchange.responder {
        case .response(let response, _): finish(exchange, .success(response), on: loop)
        case .handler(let route, let request):
            // Begins at once and on the loop: a handler that does not suspend costs no turn of the
            // queue, and its response is sent with the others of this batch.
            let started = Task.immediate {
                let result = await route.run(request)
                self.finish(exchange, result, on: loop)
            }
            // It may have come to an end, or to a stream with a task of its own.
            if output.isAnswering, !isStreaming { handler = started }
            if output.isLongPoll, loop.isStopping { handler?.cancel() }
        }
    }

    /// Writes the response and calls the hooks.
    private func finish(
        _ exchange: Exchange, _ result: Result<Response, any Error>, on loop: isolated Loop
    ) {
        handler = nil
        let now = loop.refresh()
        guard phase.closing != .closed else {
            let status = input.router.unsentStatus(of: exchange, result, on: loop)
            return complete(exchange, status, bytes: 0, on: loop)
        }
        let response = input.router.response(to: exchange, result, on: loop)
        let frame = exchange.frame(
            of: response, date: loop.date.bytes, isLast: loop.isDraining,
            common: loop.context.commonFields(
                isSecure: transport.isEncrypted || input.isBehindTLS))
        let (status, bytes) = input.router.write(
            response, frame, of: exchange, to: &output, on: loop)
        if !frame.keepsAlive {
            output.dropQueue()
            phase.endInput(lingers: exchange.clientKeepsAlive || exchange.closesConnection)
        }
        phase.answered(at: now)
        if status == response.status, let stream = frame.stream(of: response) {
            return send(stream, frame, of: exchange, (status, bytes), on: loop)
        }
        complete(exchange, status, bytes: bytes, on: loop)
        run(on: loop)
    }

    private func complete(
        _ exchange: Exchange, _ status: Status, bytes: Int, on loop: isolated Loop
    ) {
        output.finish()
        loop.requestsInFlight.decrement()
        loop.record(exchange, status, bytes: bytes)
    }

    /// Sends the pieces of a response as they come.
    /// - Parameter begun: the status, and the bytes that are written already.
    private func send(
        _ stream: AsyncStream<[UInt8]>, _ frame: ResponseEncoder.Frame, of exchange: Exchange,
        _ begun: (status: Status, bytes: Int), on loop: isolated Loop
    ) {
        isStreaming = true
        run(on: loop)
        let started = Task.immediate {
            var bytes = begun.bytes
            // Not begun where the connection has closed with the head, because then nothing would
            // cancel this task.
            var pieces = phase.closing == .closed ? nil : stream.makeAsyncIterator()
            while let piece = await pieces?.next(isolation: loop), phase.closing != .closed {
                bytes += output.write(piece: piece, frame)
                _ = loop.refresh()
                run(on: loop)
                if output.isFull { perform(phase.close(), on: loop) }
            }
            (isStreaming, handler) = (false, nil)
            if phase.closing != .closed {
                bytes += output.writeEnd(frame)
                if loop.isDraining { phase.endInput(lingers: true) }
            }
            complete(exchange, begun.status, bytes: bytes, on: loop)
            run(on: loop)
        }
        handler = isStreaming ? started : nil
        if loop.isDraining { handler?.cancel() }
    }

    /// Sends as many bytes as the transport accepts. The rest waits until the transport is ready.
    private func send(on loop: isolated Loop) {
        guard phase.closing != .closed else { return }
        sending: while output.unsentBytes > 0 {
            switch output.withUnsentBytes({ transport.send($0) }) {
            case .bytes(let count):
                output.sent(count)
                loop.counts.sentBytes &+= count
            case .wouldBlock: break sending
            case .end, .failed: return perform(phase.close(), on: loop)
            }
        }
        perform(phase.sent(output, at: loop.now), on: loop)
    }
}
