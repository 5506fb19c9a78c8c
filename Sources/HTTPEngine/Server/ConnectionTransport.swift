internal import CSocket

/// The transport of a connection, whether it is ready for requests, and what it waits for.
struct ConnectionTransport {
    private var transport: any Transport
    private(set) var isEstablished = false
    /// The events that it waits for when it has nothing to read, and when it cannot write. During
    /// the handshake only the first is used.
    private var receiveWaits = Readiness.readable
    private var sendWaits = Readiness.writable
    /// Begins when the PROXY header was read, which is not encrypted.
    private var nextTLS: (plain: PlainTransport, context: TLSContext)?

    init(_ transport: any Transport) { self.transport = transport }

    /// - Parameter awaitsProxyHeader: whether a PROXY header comes before TLS.
    init(_ plain: PlainTransport, _ tls: TLSContext?, awaitsProxyHeader: Bool) {
        transport = plain
        guard let tls else { return }
        if awaitsProxyHeader {
            nextTLS = (plain, tls)
        } else {
            transport = TLSTransport(plain, tls)
        }
    }

    var descriptor: Int32 { transport.descriptor }

    /// Whether what is sent now is encrypted.
    var isEncrypted: Bool { transport.isEncrypted }

    /// Whether the PROXY header has to be read by ``receiveHeader(_:)``, and then `beginTLS` has to
    /// be called.
    var isBeforeTLS: Bool { nextTLS != nil }

    /// Reads the bytes of the PROXY header from the start of the stream.
    /// - Parameter body: returns how many of the bytes it takes. The others stay in the socket.
    func receiveHeader(_ body: (UnsafeRawBufferPointer) -> Int) -> TransferResult {
        guard let (plain, _) = nextTLS else { return .end }
        return withUnsafeTemporaryAllocation(
            byteCount: ProxyHeader.maxBytes, alignment: 16
        ) { buffer in
            let result = plain.peek(into: buffer)
            guard case .bytes(let count) = result else { return result }
            let taken = body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            return plain.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<taken]))
        }
    }

    mutating func beginTLS() {
        guard let (plain, context) = nextTLS else { return }
        nextTLS = nil
        transport = TLSTransport(plain, context)
    }

    /// Takes the handshake a step further.
    mutating func establish() -> HandshakeResult {
        let result = transport.handshake()
        switch result {
        case .done, .notEncrypted:
            isEstablished = true
            receiveWaits = .readable
        case .wouldBlock(let readiness): receiveWaits = readiness
        case .failed: break
        }
        return result
    }

    mutating func receive(into buffer: UnsafeMutableRawBufferPointer) -> TransferResult {
        let result = transport.receive(into: buffer)
        switch result {
        case .bytes: receiveWaits = .readable
        case .wouldBlock(let readiness): receiveWaits = readiness
        case .end, .failed: break
        }
        return result
    }

    mutating func send(_ bytes: UnsafeRawBufferPointer) -> TransferResult {
        let result = transport.send(bytes)
        if case .wouldBlock(let readiness) = result { sendWaits = readiness }
        return result
    }

    mutating func endOutput() { transport.endOutput() }

    mutating func close() { transport.close() }

    /// The events of epoll to wait for.
    /// - Parameters:
    ///   - reads: whether bytes are wanted.
    ///   - writes: whether there are bytes to send.
    func events(reads: Bool, writes: Bool) -> UInt32 {
        (!isEstablished || reads ? receiveWaits.events : 0)
            | (isEstablished && writes ? sendWaits.events : 0)
    }
}

extension Readiness {
    /// For epoll.
    fileprivate var events: UInt32 {
        switch self {
        case .readable: EPOLLIN.rawValue
        case .writable: EPOLLOUT.rawValue
        }
    }
}
