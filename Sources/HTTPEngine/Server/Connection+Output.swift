internal import CSocket
internal import Glibc

// What goes out: exchanges to their handlers, answers to the outbox, the outbox to the socket.
extension Connection {
    func begin(_ exchange: Exchange, on loop: isolated Loop) {
        state.answerBegan(octets: exchange.octets)
        switch exchange.answerer {
        case .undecided: break
        case .ready(let outcome): finish(exchange, outcome, on: loop)
        case .handler(let mounted, let parameters):
            guard let head = exchange.head else { return }
            let request = Request(
                head: head, body: exchange.body, peer: client(of: exchange, on: loop),
                requestID: exchange.id)
            // Begins at once and on the loop: a handler that never waits costs no turn of the
            // queue, and its answer goes out with the others of this batch.
            let started = Task.immediate {
                let outcome = await loop.context.router.run(mounted, parameters, request)
                self.finish(exchange, outcome, on: loop)
            }
            task = state.isAnswering ? started : nil
        }
    }

    /// Puts the answer into the outbox and tells the hooks.
    private func finish(_ exchange: Exchange, _ outcome: Router.Outcome, on loop: isolated Loop) {
        task = nil
        let now = loop.refresh()
        guard state.closing != .closed else {
            // The peer went away; what its handler says about that is nobody's fault.
            let status =
                outcome.error is CancellationError ? .clientGone : outcome.response.status
            record(exchange, status, octets: 0, at: now, on: loop)
            return
        }
        if let error = outcome.error { loop.report(error, for: exchange.id) }
        let clientKeeps = exchange.head?.keepsAlive ?? false
        let keeps = clientKeeps && !exchange.isLast && !loop.isDraining
        let frame = ResponseEncoder.Frame(
            id: exchange.id, date: loop.date.octets, isHead: exchange.head?.method == .head,
            minorVersion: exchange.head?.minorVersion ?? 1, keepsAlive: keeps)
        let (status, octets) = encode(outcome.response, frame, exchange, on: loop)
        if !keeps {
            queue.removeAll()
            state.endInput(lingers: clientKeeps || exchange.isLast)
        }
        state.answered(octets: octets, isLast: !keeps, at: now)
        record(exchange, status, octets: octets, at: now, on: loop)
        pump(on: loop)
    }

    /// A response that cannot be written becomes the surface's 500, and if that cannot be written
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
            let router = loop.context.router
            let faults = exchange.mounted?.faults ?? router.renderer(for: exchange.head)
            var second = router.render(.thrown(error), by: faults, for: exchange.context).response
            if let octets = try? ResponseEncoder.encode(second, frame, into: &outbox) {
                return (second.status, octets)
            }
            second = Response(status: .internalServerError)
            // Without headers there is nothing that could be invalid.
            let octets = try? ResponseEncoder.encode(second, frame, into: &outbox)
            return (second.status, octets ?? 0)
        }
    }

    private func record(
        _ exchange: Exchange, _ status: Status, octets: Int, at now: Moment,
        on loop: isolated Loop
    ) {
        guard let access = loop.context.hooks.access else { return }
        access(
            AccessRecord(
                method: exchange.head?.method, route: exchange.mounted?.route.template ?? "-",
                status: status.code, bytes: octets, duration: now.duration(since: exchange.began),
                peer: client(of: exchange, on: loop), id: exchange.id))
    }

    /// Who asks: the peer, or whom it asks for if it is a proxy that is trusted.
    private func client(of exchange: Exchange, on loop: isolated Loop) -> PeerAddress {
        let configuration = loop.context.configuration
        guard !configuration.trustedProxies.isEmpty, let head = exchange.head else { return peer }
        if let client = exchange.client { return client }
        let client = ForwardedFor.client(
            of: HeaderFields(head: head), in: configuration.forwardedHeader, from: peer,
            trusting: configuration.trustedProxies)
        exchange.client = client
        return client
    }

    func sendContinue() {
        outbox += ResponseEncoder.continueReply
        state.interimSent(octets: ResponseEncoder.continueReply.count)
    }

    /// Gives the kernel what it takes; the rest waits for it to say that there is room.
    func flush(on loop: isolated Loop) {
        guard state.closing != .closed else { return }
        while sentOctets < outbox.count {
            let count = outbox.withUnsafeBytes { octets in
                let rest = UnsafeRawBufferPointer(rebasing: octets[sentOctets...])
                return send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
            }
            if count >= 0 {
                sentOctets += count
            } else if errno == EAGAIN {
                break
            } else if errno != EINTR {
                perform(state.close(), on: loop)
                return
            }
        }
        if sentOctets == outbox.count {
            outbox.removeAll(keepingCapacity: outbox.capacity <= 4_096)
            sentOctets = 0
        }
        perform(state.sent(leaving: outbox.count - sentOctets, at: loop.now), on: loop)
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
            (state.wantsOctets ? EPOLLIN.rawValue : 0) | (state.unsent > 0 ? EPOLLOUT.rawValue : 0)
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
