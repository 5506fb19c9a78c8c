internal import Glibc

// What comes in: bytes to the parser, its events to exchanges that wait for their turn.
extension Connection {
    /// At most one buffer a turn, so that a fast sender does not keep others waiting.
    func read(on loop: isolated Loop) {
        let capacity = 16_384
        withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 16) { scratch in
            var count: Int
            repeat {
                count = recv(descriptor, scratch.baseAddress, capacity, 0)
            } while count < 0 && errno == EINTR
            if count > 0 {
                take(UnsafeRawBufferPointer(rebasing: scratch[..<count]), on: loop)
            } else if count == 0 {
                end(on: loop)
            } else if errno != EAGAIN {
                perform(state.close(), on: loop)
            }
        }
    }

    func take(_ bytes: UnsafeRawBufferPointer, on loop: isolated Loop) {
        guard state.input != .ended else { return }
        if header != nil {
            takeHeader(bytes, on: loop)
            return
        }
        if case .idle = state.input { requestBegan = loop.now }
        parser.append(bytes)
        state.bytesArrived(at: loop.now)
    }

    /// The peer's end of input; in the middle of a request it is told so.
    private func end(on loop: isolated Loop) {
        switch state.input {
        case .head where !parser.isBetweenRequests: refuse(.malformed(.truncated), on: loop)
        case .body: refuse(.malformed(.truncated), on: loop)
        case .head, .idle, .discarding, .ended: break
        }
        perform(state.peerSentEnd(at: loop.now), on: loop)
    }

    /// Parses and answers as long as there is something to do, then sends in one go.
    func pump(on loop: isolated Loop) {
        guard !isPumping, state.closing != .closed else { return }
        isPumping = true
        repeat {
            var wasFull: Bool
            repeat {
                while step(on: loop) {}
                wasFull = state.isOutboxFull
                flush(on: loop)
            } while wasFull && !state.isOutboxFull && state.closing != .closed
        } while turnsAway(on: loop)
        isPumping = false
        if loop.isStopping { perform(state.drain(), on: loop) }
        watch(on: loop)
    }

    /// One answer or one parsing event; false when both must wait.
    private func step(on loop: isolated Loop) -> Bool {
        if state.mayAnswer {
            begin(queue.removeFirst(), on: loop)
            return true
        }
        if owesContinue, state.waiting == 0, !state.isAnswering {
            owesContinue = false
            sendContinue()
        }
        return state.takesRequests && parse(on: loop)
    }

    private func parse(on loop: isolated Loop) -> Bool {
        switch parser.next() {
        case .needMore: return false
        case .head(let head): headArrived(head, on: loop)
        case .body(let body): bodyArrived(body, on: loop)
        case .tooLarge:
            refuse(.bodyTooLarge(limit: incoming?.bodyLimit ?? 0), on: loop)
        case .refused(let error, let head): refuse(.malformed(error), head: head, on: loop)
        }
        return true
    }

    /// 404, 405 and 413 are decided here, before any body is read.
    private func headArrived(_ head: RequestHead, on loop: isolated Loop) {
        let most = loop.context.configuration.bodyBytes
        let exchange = Exchange(id: loop.nextID(), began: requestBegan, head: head)
        switch listener.router.match(head, id: exchange.id) {
        case .route(let mounted, let parameters):
            exchange.answerer = .handler(mounted, parameters)
            exchange.mounted = mounted
            exchange.bodyLimit = mounted.route.bodyLimit ?? most
            incoming = exchange
            if head.framing.exceeds(exchange.bodyLimit) {
                refuse(.bodyTooLarge(limit: exchange.bodyLimit), on: loop)
                return
            }
            owesContinue = head.expectsContinue && parser.unread == 0
            expectBody(of: head, limit: exchange.bodyLimit, answered: false, on: loop)
        case .response(let response):
            exchange.answerer = .ready(response)
            answerEarly(exchange, head, most: most, on: loop)
        }
    }

    /// Answers without the body. It is still read and dropped if it is small and on its way;
    /// otherwise the connection ends, for where the next request begins is not worth finding out.
    private func answerEarly(
        _ exchange: Exchange, _ head: RequestHead, most: Int, on loop: isolated Loop
    ) {
        exchange.isLast = head.expectsContinue || head.framing.exceeds(most)
        queue.append(exchange)
        state.enqueued(bytes: exchange.bytes)
        if exchange.isLast {
            state.endInput(lingers: true)
        } else {
            expectBody(of: head, limit: most, answered: true, on: loop)
        }
    }

    private func expectBody(
        of head: RequestHead, limit: Int, answered: Bool, on loop: isolated Loop
    ) {
        parser.readBody(limit: limit, keeps: !answered)
        if answered, !head.keepsAlive, head.framing == .none {
            state.endInput(lingers: parser.unread > 0)
        } else if head.framing != .none {
            state.bodyBegan(answered: answered, at: loop.now)
        }
    }

    private func bodyArrived(_ body: [UInt8], on loop: isolated Loop) {
        let keepsAlive = incoming?.head?.keepsAlive ?? true
        if let exchange = incoming {
            exchange.body = body
            incoming = nil
            queue.append(exchange)
            state.enqueued(bytes: exchange.bytes)
        }
        owesContinue = false
        requestBegan = loop.now
        state.requestEnded(more: parser.unread > 0, at: loop.now)
        if !keepsAlive { state.endInput(lingers: parser.unread > 0) }
    }

    /// Answers a fault and takes nothing more. What was answered already is not answered twice.
    func refuse(_ error: HTTPError, head: RequestHead? = nil, on loop: isolated Loop) {
        defer { state.endInput(lingers: true) }
        if case .discarding = state.input { return }
        let exchange =
            incoming
            ?? Exchange(id: loop.nextID(), began: requestBegan, head: head ?? parser.partialHead)
        incoming = nil
        exchange.isLast = true
        exchange.answerer = .ready(
            listener.router.render(error, of: exchange.mounted, exchange.context))
        queue.append(exchange)
        state.enqueued(bytes: exchange.bytes)
    }
}
