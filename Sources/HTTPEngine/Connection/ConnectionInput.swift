internal import Networking

/// The input of a connection: bytes become exchanges. No socket and no clock.
///
/// Owns the PROXY protocol header, the parser, and the request whose body has not arrived yet.
/// Guarantees: 404, 405 and 413 are decided from the head, before the body is read. A rejected
/// request has its response ready, rendered by the group of its path.
struct ConnectionInput {
    /// The meaning of received bytes.
    enum Received: Equatable {
        /// Part of a request, or of several.
        case requestBytes
        case incompleteProxyHeader
        /// The header is complete and ``ConnectionInput/peer`` is the client that it names. Bytes
        /// of a first request may have come with it.
        case proxyHeader
        case invalidProxyHeader(ProxyHeaderError.Reason)
    }

    enum Event {
        case needMore
        /// A request has a head, and a body that has not arrived.
        case bodyExpected
        /// A request is complete, or its response is known. It waits for its turn.
        case exchange(Exchange, then: Next)
        /// The body of a request that was answered before has been read and dropped.
        case bodyDropped
        /// No further request can be read; nil if the last one has its response already.
        case rejected(Exchange?)
    }

    /// What follows an exchange on the connection.
    enum Next: Equatable {
        case request
        /// The body of the same request, which is dropped.
        case droppedBody
        /// Nothing is read. With `lingers` bytes may still be on their way.
        case nothing(lingers: Bool)
    }

    /// A request whose body has not arrived yet.
    private struct Incoming {
        let id: RequestID
        let head: RequestHead
        let route: MountedRoute
        let parameters: PathParameters
        let bodyLimit: Int
        let client: SocketAddress
    }

    /// The other end of the connection; after a PROXY header the client that it names.
    private(set) var peer: SocketAddress
    private(set) var router: Router
    /// ``HTTPService/isBehindTLS``.
    private(set) var isBehindTLS: Bool
    private var proxies: TrustedProxies
    private let bodyBytes: Int
    /// The received part of the PROXY header; nil if none is expected.
    private var proxyHeader: [UInt8]?
    private var parser: RequestParser
    private var incoming: Incoming?
    private var isDroppingBody = false
    private var owesContinue = false
    /// When the first byte of the present request arrived.
    private var began: MonotonicTime

    /// Whether the peer is a trusted proxy; after a PROXY header, whether its client is one.
    var isOfProxy: Bool { proxies.contain(peer.address) }

    /// - Parameter bodyBytes: the limit of a body if its route has none.
    init(
        peer: SocketAddress, service: HTTPService, awaitsProxyHeader: Bool, limits: ParserLimits,
        bodyBytes: Int, at now: MonotonicTime
    ) {
        self.peer = peer
        router = service.router
        isBehindTLS = service.isBehindTLS
        proxies = service.proxies
        self.bodyBytes = bodyBytes
        proxyHeader = awaitsProxyHeader ? [] : nil
        parser = RequestParser(limits: limits)
        began = now
    }

    /// From now on the heads of requests are read for this service. A request whose head was
    /// already read is still answered by the earlier service.
    mutating func serve(_ service: HTTPService) {
        router = service.router
        isBehindTLS = service.isBehindTLS
        proxies = service.proxies
    }

    /// No byte of the next request has arrived.
    var isBetweenRequests: Bool { parser.isBetweenRequests }

    var hasUnreadBytes: Bool { parser.unread > 0 }

    /// A PROXY header has begun and is not complete.
    var hasPartialProxyHeader: Bool { proxyHeader?.isEmpty == false }

    /// A PROXY header must come before anything else.
    var awaitsProxyHeader: Bool { proxyHeader != nil }

    /// Bytes that it keeps in memory.
    var heldBytes: Int { parser.heldBytes + (incoming?.head.bytes.count ?? 0) }

    mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) -> Received {
        guard awaitsProxyHeader else {
            append(bytes, at: now)
            return .requestBytes
        }
        let (received, count) = receiveProxyHeader(bytes)
        if received == .proxyHeader {
            append(UnsafeRawBufferPointer(rebasing: bytes[count...]), at: now)
        }
        return received
    }

    /// Takes the bytes that belong to the expected PROXY header.
    /// - Returns: their meaning, and the length of that part.
    mutating func receiveProxyHeader(_ bytes: UnsafeRawBufferPointer) -> (Received, Int) {
        var header = proxyHeader ?? []
        proxyHeader = nil
        let before = header.count
        header.append(contentsOf: bytes)
        switch ProxyHeader.read(header) {
        case .needMore:
            proxyHeader = header
            return (.incompleteProxyHeader, bytes.count)
        case .done(let client, let count):
            peer = client ?? peer
            return (.proxyHeader, count - before)
        case .invalid(let reason): return (.invalidProxyHeader(reason), bytes.count)
        }
    }

    /// Parses the next thing that has been received.
    /// - Parameter id: for a request that begins.
    mutating func next(id: @autoclosure () -> RequestID, at now: MonotonicTime) -> Event {
        switch parser.next() {
        case .needMore: return .needMore
        case .head(let head): return read(head, id: id(), at: now)
        case .body(let body): return finish(body, at: now)
        case .tooLarge:
            return .rejected(
                reject(.bodyTooLarge(limit: incoming?.bodyLimit ?? bodyBytes), id: id()))
        case .invalid(let error, let head):
            return .rejected(reject(.malformed(error), head: head, id: id()))
        }
    }

    /// Ends the request that is being read with an error. No further request may be read.
    /// - Returns: nil if the request has its response already and only its body is dropped.
    mutating func reject(
        _ error: HTTPError, head: RequestHead? = nil, id: @autoclosure () -> RequestID
    ) -> Exchange? {
        guard !isDroppingBody else { return nil }
        let id = incoming?.id ?? id()
        let head = incoming?.head ?? head ?? parser.partialHead
        let (route, client) = (incoming?.route, incoming?.client)
        incoming = nil
        owesContinue = false
        let response = router.render(error, of: route, ErrorContext(id: id, head: head))
        return Exchange(
            id: id, began: began, head: head, client: client ?? self.client(of: head),
            responder: .response(response, route), closesConnection: true)
    }

    /// Whether the client waits for `100 Continue`; true once for each request.
    mutating func takeContinue() -> Bool {
        defer { owesContinue = false }
        return owesContinue
    }

    /// Drops everything that was received and frees its memory. No further request may be read.
    mutating func discard() {
        parser = RequestParser(limits: parser.limits)
        incoming = nil
        proxyHeader = nil
    }

    /// Gives back the memory of empty buffers.
    mutating func releaseBuffers() { parser.releaseBuffer() }

    private mutating func append(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) {
        guard !bytes.isEmpty else { return }
        if parser.isBetweenRequests { began = now }
        parser.append(bytes)
    }

    private mutating func read(_ head: RequestHead, id: RequestID, at now: MonotonicTime) -> Event {
        switch router.match(head, id: id) {
        case .response(let response):
            return respond(response, to: head, id: id, at: now)
        case .route(let route, let parameters):
            let limit = route.route.bodyLimit ?? bodyBytes
            incoming = Incoming(
                id: id, head: head, route: route, parameters: parameters, bodyLimit: limit,
                client: client(of: head))
            if head.framing.exceeds(limit) {
                return .rejected(reject(.bodyTooLarge(limit: limit), id: id))
            }
            owesContinue = head.expectsContinue && parser.unread == 0
            parser.readBody(limit: limit)
            return head.framing == .none ? next(id: id, at: now) : .bodyExpected
        }
    }

    /// The response does not depend on the body. A body is still read and dropped if it is small
    /// and will be sent without `100 Continue`; otherwise the connection closes.
    private mutating func respond(
        _ response: Response, to head: RequestHead, id: RequestID, at now: MonotonicTime
    ) -> Event {
        let closes = head.expectsContinue || head.framing.exceeds(bodyBytes)
        let exchange = Exchange(
            id: id, began: began, head: head, client: client(of: head),
            responder: .response(response, nil), closesConnection: closes)
        if closes { return .exchange(exchange, then: .nothing(lingers: true)) }
        parser.readBody(limit: bodyBytes, keeps: false)
        guard head.framing == .none else {
            isDroppingBody = true
            return .exchange(exchange, then: .droppedBody)
        }
        // The empty body.
        _ = parser.next()
        return .exchange(exchange, then: afterRequest(head, at: now))
    }

    private mutating func finish(_ body: [UInt8], at now: MonotonicTime) -> Event {
        guard let request = incoming else {
            isDroppingBody = false
            began = now
            return .bodyDropped
        }
        incoming = nil
        owesContinue = false
        let client = request.client
        let exchange = Exchange(
            id: request.id, began: began, head: request.head, client: client,
            responder: .handler(
                request.route,
                Request(
                    head: request.head, body: body, peer: client.address, requestID: request.id,
                    parameters: request.parameters, route: request.route.route.template)))
        return .exchange(exchange, then: afterRequest(request.head, at: now))
    }

    private mutating func afterRequest(_ head: RequestHead, at now: MonotonicTime) -> Next {
        began = now
        return head.keepsAlive ? .request : .nothing(lingers: parser.unread > 0)
    }

    private func client(of head: RequestHead?) -> SocketAddress {
        guard !proxies.addresses.isEmpty, let head else { return peer }
        let client = ForwardedFor.client(
            of: HeaderFields(head: head), from: peer.address, trusting: proxies)
        return client == peer.address ? peer : SocketAddress(client, port: 0)
    }
}

extension RequestHead.Framing {
    /// Whether `Content-Length` exceeds the limit. The length of a chunked body is known only after
    /// it was read.
    fileprivate func exceeds(_ limit: Int) -> Bool {
        if case .length(let length) = self { return length > limit }
        return false
    }
}
