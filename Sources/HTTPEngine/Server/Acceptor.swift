internal import CSocket
internal import Glibc

/// Accepts on one loop for all of them, in turn, so that few connections are spread evenly.
///
/// Promises: never spins. Out of descriptors it gives up its spare one to turn a client away, and
/// listens again at the next tick. The listeners are closed in `close` and nowhere else.
final class Acceptor {
    private let sockets: [ListeningSocket]
    private let loops: [Loop]
    private var turn = 0
    private var spare: Int32
    private(set) var isPaused = false
    private var quietUntil: MonotonicTime?

    init(sockets: [ListeningSocket], loops: [Loop], on loop: isolated Loop) {
        self.sockets = sockets
        self.loops = loops
        spare = Acceptor.openSpare()
        listen(on: loop)
    }

    func ready(_ descriptor: Int32, on loop: isolated Loop) {
        guard !isPaused, let socket = sockets.first(where: { $0.descriptor == descriptor }) else {
            return
        }
        accept(from: socket, on: loop)
    }

    private func accept(from socket: ListeningSocket, on loop: isolated Loop) {
        // At most so many a turn, so that a flood of connections does not stop the others.
        for _ in 0..<64 {
            var address = sockaddr_storage()
            let descriptor = csocket_accept(socket.descriptor, &address)
            if descriptor >= 0 {
                hand(over: descriptor, from: PeerAddress(address), socket, on: loop)
            } else if !goesOn(after: errno, socket, on: loop) {
                return
            }
        }
    }

    /// Listens again after a shortage.
    func resume(on loop: isolated Loop) {
        guard isPaused else { return }
        if spare < 0 { spare = Acceptor.openSpare() }
        isPaused = false
        listen(on: loop)
    }

    func close(on loop: isolated Loop) {
        for socket in sockets {
            if !isPaused { accept(from: socket, on: loop) }
            _ = csocket_watch(loop.epoll, EPOLL_CTL_DEL, socket.descriptor, 0)
            socket.close()
        }
        if spare >= 0 { Glibc.close(spare) }
    }

    private func hand(
        over descriptor: Int32, from peer: PeerAddress, _ socket: ListeningSocket,
        on loop: isolated Loop
    ) {
        guard let standing = standing(of: peer, socket.listener.proxies, on: loop) else {
            Glibc.close(descriptor)
            return
        }
        let target = loops[turn % loops.count]
        turn &+= 1
        if target === loop {
            loop.adopt(descriptor, from: peer, on: socket, as: standing)
        } else {
            target.enter { $0.adopt(descriptor, from: peer, on: socket, as: standing) }
        }
    }

    /// nil for a stranger where proxies have to say whom they speak for: whatever it says of itself
    /// is not believed, and what it is answered would be counted to nobody.
    private func standing(
        of peer: PeerAddress, _ proxies: TrustedProxies, on loop: isolated Loop
    ) -> Connection.Standing? {
        guard proxies.proxyProtocol == .required else {
            return loop.context.limiter.admit(peer) ? .named : .surplus
        }
        guard proxies.addresses.contain(peer) else {
            reportStranger(peer, on: loop)
            return nil
        }
        return loop.context.limiter.admit(nil) ? .unnamed : .surplus
    }

    /// At most once a second: enough to find a proxy that was not named, and no flood of lines.
    private func reportStranger(_ peer: PeerAddress, on loop: isolated Loop) {
        let now = loop.refresh()
        guard quietUntil.map({ $0 <= now }) ?? true else { return }
        quietUntil = now + MonotonicTime.Interval(.seconds(1))
        loop.report(ProxyHeaderError(peer: peer, reason: .untrustedPeer), for: nil)
    }

    /// Whether another try makes sense after this error (accept(2)).
    private func goesOn(after code: Int32, _ socket: ListeningSocket, on loop: isolated Loop)
        -> Bool
    {
        switch code {
        case EAGAIN: return false
        case EINTR, ECONNABORTED, EPROTO, EPERM, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH:
            return true
        default:
            // EMFILE, ENFILE, ENOBUFS, ENOMEM: the client would stay in the kernel's queue, and
            // the listener readable, for ever.
            if spare >= 0 {
                Glibc.close(spare)
                let refused = csocket_accept(socket.descriptor, nil)
                if refused >= 0 { Glibc.close(refused) }
                spare = Acceptor.openSpare()
            }
            pause(on: loop)
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
