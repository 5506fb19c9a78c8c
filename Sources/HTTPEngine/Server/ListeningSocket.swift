internal import Networking

/// A listening socket, and the listener that it was opened for. Closed by its ``Acceptor``.
final class ListeningSocket: Sendable {
    let listener: Listener
    private let socket: BoundSocket

    /// Listens on the listener's socket, or opens one at its address.
    /// - Parameter backlog: connections that the kernel queues before they are accepted.
    init(_ listener: Listener, backlog: Int32) throws(SocketError) {
        self.listener = listener
        socket = if let bound = listener.socket { bound } else { try BoundSocket(listener.address) }
        do throws(SocketError) {
            try socket.listen(backlog)
        } catch {
            socket.close()
            throw error
        }
    }

    var descriptor: Int32 { socket.descriptor }

    /// With port 0 resolved, and `*` as the wildcard address that was bound.
    var address: ListenAddress { socket.address }

    /// Whether other processes have the socket, too.
    var isInherited: Bool { socket.isInherited }

    func close() { socket.close() }

    /// The address of a client that has none: clients of a unix socket are on this machine.
    var peerWithoutAddress: SocketAddress? {
        if case .unix = address { SocketAddress(.loopback, port: 0) } else { nil }
    }
}
