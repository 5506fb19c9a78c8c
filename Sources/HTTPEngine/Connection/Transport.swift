internal import Glibc

/// The event that a non-blocking call has to wait for before it is repeated.
enum Readiness {
    case readable
    case writable
}

/// The byte stream of one connection, over a non-blocking socket. Nothing else calls the socket.
///
/// Use: call `handshake` until it is `.done`, before anything else. A call that would block is
/// repeated when the descriptor is ready for what it waits for: an encrypted stream may have to
/// write in order to read. `close` is called exactly once and ends the transport.
protocol Transport {
    /// For epoll, and as the identity of the connection; open until `close`.
    var descriptor: Int32 { get }
    /// Whether what is sent now is encrypted.
    var isEncrypted: Bool { get }
    mutating func handshake() -> HandshakeResult
    mutating func receive(into buffer: UnsafeMutableRawBufferPointer) -> TransferResult
    mutating func send(_ bytes: UnsafeRawBufferPointer) -> TransferResult
    /// Tells the peer that nothing more will be sent.
    mutating func endOutput()
    mutating func close()
}

enum HandshakeResult: Equatable {
    case done
    case wouldBlock(until: Readiness)
    /// The client has sent HTTP where TLS is expected. From now on output is not encrypted, and
    /// input is meaningless.
    case notEncrypted
    /// With the errno.
    case failed(Int32)
}

enum TransferResult: Equatable {
    /// The number of bytes that were transferred, at least one.
    case bytes(Int)
    case wouldBlock(until: Readiness)
    /// The peer will send no more.
    case end
    /// With the errno.
    case failed(Int32)
}

/// Plain TCP.
struct PlainTransport: Transport {
    let descriptor: Int32

    /// - Parameter descriptor: a connected non-blocking socket, which the transport owns from now
    ///   on.
    init(descriptor: Int32) { self.descriptor = descriptor }

    var isEncrypted: Bool { false }

    func handshake() -> HandshakeResult { .done }

    func receive(into buffer: UnsafeMutableRawBufferPointer) -> TransferResult {
        receive(into: buffer, flags: 0)
    }

    /// Reads bytes without removing them: the next call reads them again.
    func peek(into buffer: UnsafeMutableRawBufferPointer) -> TransferResult {
        receive(into: buffer, flags: Int32(MSG_PEEK))
    }

    private func receive(
        into buffer: UnsafeMutableRawBufferPointer, flags: Int32
    ) -> TransferResult {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if errno == EAGAIN { return .wouldBlock(until: .readable) }
            if errno != EINTR { return .failed(errno) }
        }
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> TransferResult {
        while true {
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if count >= 0 { return .bytes(count) }
            if errno == EAGAIN { return .wouldBlock(until: .writable) }
            if errno != EINTR { return .failed(errno) }
        }
    }

    func endOutput() { shutdown(descriptor, Int32(SHUT_WR)) }

    func close() { Glibc.close(descriptor) }
}
