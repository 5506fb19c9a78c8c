internal import COpenSSL
internal import Glibc

/// TLS over TCP, as a server.
///
/// OpenSSL's buffers are empty when a call has returned: OpenSSL does not read ahead and reads one
/// record at a time, which fits into the buffer of ``Connection``. So epoll reports all data that
/// can be read.
struct TLSTransport: Transport {
    private enum State {
        case handshake
        case open
        /// Bytes are not encrypted. Either nothing more is sent and input is dropped, or the client
        /// does not use TLS.
        case plain
        /// OpenSSL must not be called again, except to free the session.
        case failed
    }

    private let plain: PlainTransport
    /// nil without memory; then the handshake fails.
    private let session: OpaquePointer?
    /// Frees, at its end, what the session uses.
    private let context: TLSContext
    private var state = State.handshake

    /// - Parameter plain: owned by this transport from now on.
    init(_ plain: PlainTransport, _ context: TLSContext) {
        self.plain = plain
        self.context = context
        session = context.makeSession(on: plain.descriptor)
    }

    var descriptor: Int32 { plain.descriptor }

    var isEncrypted: Bool { state == .open }

    mutating func handshake() -> HandshakeResult {
        guard let session else { return .failed(ENOMEM) }
        ERR_clear_error()
        let result = SSL_do_handshake(session)
        if result == 1 {
            state = .open
            return .done
        }
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return .wouldBlock(until: .readable)
        case SSL_ERROR_WANT_WRITE: return .wouldBlock(until: .writable)
        default:
            let isPlain = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST
            state = isPlain ? .plain : .failed
            ERR_clear_error()
            return isPlain ? .notEncrypted : .failed(EPROTO)
        }
    }

    mutating func receive(into buffer: UnsafeMutableRawBufferPointer) -> TransferResult {
        if state == .plain { return plain.receive(into: buffer) }
        ERR_clear_error()
        let count = SSL_read(session, buffer.baseAddress, Int32(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : stopped(count)
    }

    mutating func send(_ bytes: UnsafeRawBufferPointer) -> TransferResult {
        if state == .plain { return plain.send(bytes) }
        ERR_clear_error()
        let count = SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count))
        return count > 0 ? .bytes(Int(count)) : stopped(count)
    }

    /// Sends close_notify, so that the client knows that the stream is complete.
    mutating func endOutput() {
        shutDownSession()
        state = .plain
        plain.endOutput()
    }

    mutating func close() {
        shutDownSession()
        state = .failed
        SSL_free(session)
        plain.close()
    }

    private func shutDownSession() {
        guard state == .open else { return }
        ERR_clear_error()
        SSL_shutdown(session)
        ERR_clear_error()
    }

    /// Why a call has transferred nothing. The end of the stream without close_notify is a failure,
    /// because an attacker on the network can cause it.
    private mutating func stopped(_ result: Int32) -> TransferResult {
        switch SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return .wouldBlock(until: .readable)
        case SSL_ERROR_WANT_WRITE: return .wouldBlock(until: .writable)
        case SSL_ERROR_ZERO_RETURN: return .end
        default:
            state = .failed
            ERR_clear_error()
            return .failed(EPROTO)
        }
    }
}
