internal import CSocket
internal import Glibc

// What goes out: exchanges to their handlers, answers to the outbox, the outbox to the socket.
extension Connection {
    func begin(_ exchange: Exchange, on loop: isolated Loop) {
        state.answerBegan(bytes: exchange.bytes)
        switch exchange.answerer {
        case .undecided: break
        case .ready(let response): finish(exchange, .success(response), on: loop)
        case .handler(let mounted, let parameters):
            guard let head = exchange.head else { return }
            let request = Request(
                head: head, body: exchange.body, peer: client(of: exchange, on: loop),
                requestID: exchange.id)
            // Begins at once and on the loop: a handler that never waits costs no turn of the
            // queue, and its answer goes out with the others of this batch.
            let started = Task.immediate {
                let result = await mounted.run(request, parameters)
                self.finish(exchange, result, on: loop)
            }
            task = state.isAnswering ? started : nil
        }
    }

    /// Puts the answer into the outbox and tells the hooks.
    private func finish(
        _ exchange: Exchange, _ result: Result<Response, any Error>, on loop: isolated Loop
    ) {
        task = nil
        let now = loop.refresh()
        guard state.closing != .closed else {
            finishUnsent(exchange, result, at: now, on: loop)
            return
        }
        let response = response(to: exchange, result, on: loop)
        let clientKeeps = exchange.head?.keepsAlive ?? false
        let keeps = clientKeeps && !exchange.isLast && !loop.isDraining
        let frame = ResponseEncoder.Frame(
            id: exchange.id, date: loop.date.bytes, isHead: exchange.head?.method == .head,
            minorVersion: exchange.head?.minorVersion ?? 1, keepsAlive: keeps)
        let (status, bytes) = encode(response, frame, exchange, on: loop)
        if !keeps {
            queue.removeAll()
            state.endInput(lingers: clientKeeps || exchange.isLast)
        }
        state.answered(bytes: bytes, isLast: !keeps, at: now)
        record(exchange, status, bytes: bytes, at: now, on: loop)
        pump(on: loop)
    }

    /// The client has closed the connection: its handler was cancelled, which is no error.
    private func finishUnsent(
        _ exchange: Exchange, _ result: Result<Response, any Error>, at now: MonotonicTime,
        on loop: isolated Loop
    ) {
        let status: Status
        if case .failure(let error) = result, error is CancellationError {
            status = .clientGone
        } else {
            status = response(to: exchange, result, on: loop).status
        }
        record(exchange, status, bytes: 0, at: now, on: loop)
    }

    private func response(
        to exchange: Exchange, _ result: Result<Response, any Error>, on loop: isolated Loop
    ) -> Response {
        switch result {
        case .success(let response): return response
        case .failure(let error):
            loop.report(error, for: exchange.id)
            return listener.router.render(.internalError, of: exchange.mounted, exchange.context)
        }
    }

    /// A response that cannot be written becomes the API's 500, and if that cannot be written
    /// either, a bare one.
    private func encode(
        _ response: Response, _ frame: ResponseEncoder.Frame, _ exchange: Exchange,
        on loop: isolated Loop
    ) -> (Status, Int) {
        do throws(InvalidHeader) {
            return (
                response.status, try ResponseEncoder.encode(response, frame, into: &outbox)
            )
        } catch {
            loop.report(error, for: exchange.id)
            var second = listener.router.render(
                .internalError, of: exchange.mounted, exchange.context)
            if let bytes = try? ResponseEncoder.encode(second, frame, into: &outbox) {
                return (second.status, bytes)
            }
            second = Response(status: .internalServerError)
            // Without headers there is nothing that could be invalid.
            let bytes = try? ResponseEncoder.encode(second, frame, into: &outbox)
            return (second.status, bytes ?? 0)
        }
    }

    private func record(
        _ exchange: Exchange, _ status: Status, bytes: Int, at now: MonotonicTime,
        on loop: isolated Loop
    ) {
        guard let access = loop.context.hooks.access else { return }
        access(
            AccessRecord(
                method: exchange.head?.method, route: exchange.mounted?.route.template ?? "-",
                status: status.code, bytes: bytes, duration: now.duration(since: exchange.began),
                peer: client(of: exchange, on: loop), id: exchange.id))
    }

    /// Who asks: the peer, or whom it asks for if it is a proxy that is trusted.
    private func client(of exchange: Exchange, on loop: isolated Loop) -> PeerAddress {
        let proxies = listener.proxies
        guard !proxies.addresses.isEmpty, let head = exchange.head else { return peer }
        if let client = exchange.client { return client }
        let client = ForwardedFor.client(
            of: HeaderFields(head: head), in: proxies.forwardedHeader, from: peer,
            trusting: proxies.addresses)
        exchange.client = client
        return client
    }

    func sendContinue() {
        outbox += ResponseEncoder.continueReply
        state.interimSent(bytes: ResponseEncoder.continueReply.count)
    }

    /// Gives the kernel what it takes; the rest waits for it to say that there is room.
    func flush(on loop: isolated Loop) {
        guard state.closing != .closed else { return }
        while sentBytes < outbox.count {
            let count = outbox.withUnsafeBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[sentBytes...])
                return send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sentBytes += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                perform(state.close(), on: loop)
                return
            }
        }
        if sentBytes == outbox.count {
            outbox.removeAll(keepingCapacity: outbox.capacity <= 4_096)
            sentBytes = 0
        }
        perform(state.sent(leaving: outbox.count - sentBytes, at: loop.now), on: loop)
    }

    func perform(_ action: ConnectionState.Action, on loop: isolated Loop) {
        switch action {
        case .none: break
        case .answerTimeout: refuse(.timeout, on: loop)
        case .linger: shutdown(descriptor, Int32(SHUT_WR))
        case .close:
            if header?.isEmpty == false { report(.truncated, on: loop) }
            Glibc.close(descriptor)
            loop.forget(self)
            letGo(on: loop)
            task?.cancel()
            task = nil
        }
    }

    /// Tells the kernel what to wake us for, when that has changed.
    func watch(on loop: isolated Loop) {
        guard state.closing != .closed else { return }
        let wanted =
            (state.wantsBytes ? EPOLLIN.rawValue : 0) | (state.unsent > 0 ? EPOLLOUT.rawValue : 0)
        guard wanted != watched else { return }
        let operation = isWatched ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
        if csocket_watch(loop.epoll, operation, descriptor, wanted) != 0 {
            perform(state.close(), on: loop)
            return
        }
        isWatched = true
        watched = wanted
    }
}

extension Status {
    /// Never sent: what nginx, too, writes in its log where a client did not wait for its answer.
    fileprivate static let clientGone = Status(code: 499)
}
