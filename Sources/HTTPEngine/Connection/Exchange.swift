internal import Networking

/// One request on a connection and how it is answered. A class, because it is passed from queue to
/// task to access record, and a struct would count a dozen references at each step.
final class Exchange: Sendable {
    enum Responder: Sendable {
        case handler(MountedRoute, Request)
        /// The response is known without a handler. The route is given if one was found.
        case response(Response, MountedRoute?)
    }

    let id: RequestID
    /// When its first byte came.
    let began: MonotonicTime
    /// nil when it could not be read.
    let head: RequestHead?
    /// The client: the peer of the connection, or the one that a trusted proxy names.
    let client: SocketAddress
    let responder: Responder
    /// The connection closes after the response, whatever the client asked for.
    let closesConnection: Bool

    init(
        id: RequestID, began: MonotonicTime, head: RequestHead?, client: SocketAddress,
        responder: Responder, closesConnection: Bool = false
    ) {
        self.id = id
        self.began = began
        self.head = head
        self.client = client
        self.responder = responder
        self.closesConnection = closesConnection
    }

    /// The route that was found for it, also when the request was rejected after that.
    var route: MountedRoute? {
        switch responder {
        case .handler(let mounted, _): mounted
        case .response(_, let mounted): mounted
        }
    }

    /// Whether the client can send another request on the connection.
    var clientKeepsAlive: Bool { head?.keepsAlive ?? false }

    /// What the engine decides about the response.
    /// - Parameter isLast: the connection closes after it.
    func frame(
        of response: Response, date: [UInt8], isLast: Bool, common: [CommonField]
    ) -> ResponseEncoder.Frame {
        let minorVersion = head?.minorVersion ?? 1
        // HTTP/1.0 knows no end of a stream but that of the connection.
        let endsWithConnection = response.stream != nil && minorVersion == 0
        return ResponseEncoder.Frame(
            id: id, date: date, isHead: head?.method == .head, minorVersion: minorVersion,
            keepsAlive: clientKeepsAlive && !closesConnection && !isLast && !endsWithConnection,
            common: common)
    }

    /// The bytes of the request that it keeps in memory.
    var heldBytes: Int {
        let head = head?.bytes.count ?? 0
        if case .handler(_, let request) = responder { return head + request.body.count }
        return head
    }

    var context: ErrorContext { ErrorContext(id: id, head: head) }
}
