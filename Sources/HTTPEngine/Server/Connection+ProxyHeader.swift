// Whom a proxy speaks for, before its client's first request. Until that is known the connection is
// idle in the eyes of its state: the head's deadline, from accepting it, closes it in silence.
extension Connection {
    func takeHeader(_ bytes: UnsafeRawBufferPointer, on loop: isolated Loop) {
        var heard = header ?? []
        header = nil
        let before = heard.count
        heard.append(contentsOf: bytes)
        switch ProxyHeader.read(heard) {
        case .needMore: header = heard
        case .done(let client, let count):
            name(client ?? peer, on: loop)
            let rest = bytes.dropFirst(count - before)
            if !rest.isEmpty { take(UnsafeRawBufferPointer(rebasing: rest), on: loop) }
        case .refused(let reason):
            report(reason, on: loop)
            perform(state.close(), on: loop)
        }
    }

    func report(_ reason: ProxyHeaderError.Reason, on loop: isolated Loop) {
        loop.report(ProxyHeaderError(peer: peer, reason: reason), for: nil)
    }

    /// From here on it is its client's, also in the count of connections by client.
    private func name(_ client: PeerAddress, on loop: isolated Loop) {
        peer = client
        if loop.context.limiter.name(client) {
            standing = .named
        } else if loop.admitSurplus() {
            loop.context.limiter.leave(nil)
            standing = .surplus
            turnAway(on: loop)
        } else {
            perform(state.close(), on: loop)
        }
    }
}
