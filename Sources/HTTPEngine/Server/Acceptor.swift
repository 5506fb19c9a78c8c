internal import CSocket
internal import Glibc
internal import Networking

/// Accepts connections on one loop for all loops, and hands them out in turn.
///
/// Guarantees: never spins. When the process is out of descriptors, it uses a spare one to close a
/// waiting connection, and listens again at the next tick. The sockets are closed in `close` and
/// nowhere else.
final class Acceptor {
    private let sockets: [ListeningSocket]
    /// The present services of the sockets.
    private var services: [Listener.Service]
    private let loops: [Loop]
    private var nextLoop = 0
    private var spare: Int32
    private(set) var isPaused = false
    /// Before this time no untrusted peer is reported.
    private var nextReport: MonotonicTime?

    init(sockets: [ListeningSocket], loops: [Loop], on loop: isolated Loop) {
        self.sockets = sockets
        services = sockets.map(\.listener.service)
        self.loops = loops
        spare = Acceptor.openSpare()
        listen(on: loop)
    }

    /// Connections that are accepted from now on get other services.
    func serve(_ services: [Listener.Service]) {
        self.services = zip(self.services, services).map { present, next in
            switch (present, next) {
            case (.session(let present), .session(let next)):
                .session(present.serving(as: next))
            default: next
            }
        }
    }

    /// Accepts waiting connections of a descriptor, if it is one of the listening sockets.
    func ready(_ descriptor: Int32, on loop: isolated Loop) {
        guard !isPaused, let index = sockets.firstIndex(where: { $0.descriptor == descriptor })
        else { return }
        accept(from: index, on: loop)
    }

    /// Listens again after a shortage of descriptors.
    func resume(on loop: isolated Loop) {
        guard isPaused else { return }
        if spare < 0 { spare = Acceptor.openSpare() }
        isPaused = false
        listen(on: loop)
    }

    func close(on loop: isolated Loop) {
        for (index, socket) in sockets.enumerated() {
            // Connections that wait on an inherited socket are for the next process that gets it.
            if !isPaused, !socket.isInherited { accept(from: index, on: loop) }
            _ = csocket_watch(loop.epoll, EPOLL_CTL_DEL, socket.descriptor, 0)
            socket.close()
        }
        if spare >= 0 { Glibc.close(spare) }
    }

    private func accept(from index: Int, on loop: isolated Loop) {
        let socket = sockets[index]
        // The limit for each turn, so that a flood of new connections does not stop the open ones.
        for _ in 0..<64 {
            var address = sockaddr_storage()
            let descriptor = csocket_accept(socket.descriptor, &address)
            if descriptor >= 0 {
                let transport = PlainTransport(descriptor: descriptor)
                let peer =
                    withUnsafeBytes(of: address, SocketAddress.init(sockaddr:))
                    ?? socket.peerWithoutAddress
                if let peer {
                    // Over a dual-stack socket IPv4 clients have mapped addresses.
                    let peer = SocketAddress(peer.address.unmapped, port: peer.port)
                    handOver(transport, from: peer, index, on: loop)
                } else {
                    transport.close()
                }
            } else if !continues(after: errno, socket, on: loop) {
                return
            }
        }
    }

    private func handOver(
        _ transport: PlainTransport, from peer: SocketAddress, _ index: Int,
        on loop: isolated Loop
    ) {
        switch services[index] {
        case .http(let service):
            guard let admission = admission(of: peer, service, on: loop) else {
                return transport.close()
            }
            let tls = sockets[index].listener.tls?.current
            enterNext(from: loop) {
                $0.adopt(transport, tls, of: index, from: peer, service, as: admission)
            }
        case .session(let service):
            guard service.limiter.acquire(peer.address) else {
                loop.context.rejections.count(.connectionLimit)
                // A new socket has room for it.
                _ = service.limits.rejection.withUnsafeBytes { transport.send($0) }
                return transport.close()
            }
            let place = SessionPlace(
                listener: index, address: sockets[index].address, peer: peer)
            enterNext(from: loop) { $0.adopt(transport, place, service) }
        }
    }

    private func enterNext(
        from loop: isolated Loop, _ adopt: @escaping @Sendable (isolated Loop) -> Void
    ) {
        let target = loops[nextLoop % loops.count]
        nextLoop &+= 1
        if target === loop { adopt(loop) } else { target.enter(adopt) }
    }

    /// nil if a PROXY header is required and the peer is not a trusted proxy. Its header is not
    /// used, and a response could not be counted for any client.
    private func admission(
        of peer: SocketAddress, _ service: HTTPService, on loop: isolated Loop
    ) -> Connection.Admission? {
        let limiter = loop.context.limiter(of: service)
        let proxies = service.proxies
        let isProxy = proxies.contain(peer.address)
        guard proxies.proxyProtocol == .required else {
            guard limiter.acquire(isProxy ? nil : peer.address) else {
                return .rejected
            }
            return isProxy ? .exempt : .counted
        }
        guard isProxy else {
            loop.context.rejections.count(.untrustedProxy)
            reportUntrusted(peer, on: loop)
            return nil
        }
        return limiter.acquire(nil) ? .unassigned : .rejected
    }

    /// At most once a second. This is enough to find a proxy that is missing in the configuration,
    /// without a log line for each connection.
    private func reportUntrusted(_ peer: SocketAddress, on loop: isolated Loop) {
        let now = loop.refresh()
        guard nextReport.map({ $0 <= now }) ?? true else { return }
        nextReport = now + MonotonicTime.Interval(.seconds(1))
        loop.report(ProxyHeaderError(peer: peer, reason: .untrustedPeer), for: nil)
    }

    /// Whether another call makes sense after this error (accept(2)).
    private func continues(
        after code: Int32, _ socket: ListeningSocket, on loop: isolated Loop
    ) -> Bool {
        switch code {
        case EAGAIN: return false
        case EINTR, ECONNABORTED, EPROTO, EPERM, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH:
            return true
        default:
            // EMFILE, ENFILE, ENOBUFS, ENOMEM: the connection would stay in the kernel's queue, and
            // the socket readable, for ever.
            if spare >= 0 {
                Glibc.close(spare)
                let waiting = csocket_accept(socket.descriptor, nil)
                if waiting >= 0 { Glibc.close(waiting) }
                spare = Acceptor.openSpare()
            }
            pause(on: loop)
            loop.context.rejections.count(.outOfDescriptors)
            loop.report(SocketError(call: "accept", code: code), for: nil)
            return false
        }
    }

    private func pause(on loop: isolated Loop) {
        isPaused = true
        for socket in sockets {
            _ = csocket_watch(loop.epoll, EPOLL_CTL_DEL, socket.descriptor, 0)
        }
        loop.startTicking()
    }

    private func listen(on loop: isolated Loop) {
        for socket in sockets {
            _ = csocket_watch(loop.epoll, EPOLL_CTL_ADD, socket.descriptor, EPOLLIN.rawValue)
        }
    }

    private static func openSpare() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }
}
