import COpenSSL
import Glibc

/// A TLS client over a blocking socket. It verifies nothing.
final class TLSClient {
    /// What a test may change.
    struct Setup {
        var name: String?
        var protocols: [UInt8] = []
        var version: Int32?
        /// Certificate and key, PEM.
        var certificate: TestCertificate?
        /// To resume; not freed by the client.
        var session: OpaquePointer?
        var asksForStatus = false
    }

    let raw: RawClient
    let session: OpaquePointer?
    let isConnected: Bool

    init(_ raw: RawClient, _ adjust: (inout Setup) -> Void = { _ in }) {
        var setup = Setup()
        adjust(&setup)
        self.raw = raw
        let context = SSL_CTX_new(TLS_client_method())
        defer { SSL_CTX_free(context) }
        SSL_CTX_set_security_level(context, 0)
        // Sessions in a cache cannot be resumed after their context was freed.
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        if let version = setup.version {
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
            SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        }
        if let certificate = setup.certificate { Self.use(certificate, in: context) }
        let session = SSL_new(context)
        self.session = session
        SSL_set_fd(session, raw.descriptor)
        if let name = setup.name {
            name.withCString {
                _ = SSL_ctrl(
                    session, SSL_CTRL_SET_TLSEXT_HOSTNAME, Int(TLSEXT_NAMETYPE_host_name),
                    UnsafeMutableRawPointer(mutating: $0))
            }
        }
        if !setup.protocols.isEmpty {
            SSL_set_alpn_protos(session, setup.protocols, UInt32(setup.protocols.count))
        }
        if let old = setup.session { SSL_set_session(session, old) }
        if setup.asksForStatus {
            SSL_ctrl(
                session, SSL_CTRL_SET_TLSEXT_STATUS_REQ_TYPE, Int(TLSEXT_STATUSTYPE_ocsp), nil)
        }
        isConnected = SSL_connect(session) == 1
        ERR_clear_error()
    }

    deinit { SSL_free(session) }

    var isResumed: Bool { SSL_session_reused(session) == 1 }

    var version: Int32 { SSL_version(session) }

    /// The protocol that the server has selected.
    var selected: String {
        var bytes: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        SSL_get0_alpn_selected(session, &bytes, &count)
        return String(
            decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    /// The certificate of the server, PEM.
    var peerCertificate: [UInt8] {
        let certificate = SSL_get1_peer_certificate(session)
        defer { X509_free(certificate) }
        let target = BIO_new(BIO_s_mem())
        defer { BIO_free(target) }
        PEM_write_bio_X509(target, certificate)
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(target))
        BIO_read(target, &bytes, Int32(bytes.count))
        return bytes
    }

    @discardableResult
    func send(_ text: String) -> Bool {
        SSL_write(session, Array(text.utf8), Int32(text.utf8.count)) == Int32(text.utf8.count)
    }

    /// Sends close_notify; the socket stays open.
    func endInput() { SSL_shutdown(session) }

    /// Ends the connection. A session whose connection was cut could not be resumed.
    func takeSession() -> OpaquePointer? {
        SSL_shutdown(session)
        return SSL_get1_session(session)
    }

    /// Everything up to close_notify; nil where the stream ended without it.
    func receiveToEnd() -> String? {
        guard isConnected else { return nil }
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = SSL_read(session, &buffer, Int32(buffer.count))
            if count <= 0 {
                let error = SSL_get_error(session, count)
                ERR_clear_error()
                return error == SSL_ERROR_ZERO_RETURN
                    ? String(decoding: all, as: UTF8.self) : nil
            }
            all += buffer[..<Int(count)]
        }
    }

    private static func use(_ own: TestCertificate, in context: OpaquePointer?) {
        let pem = own.pem
        let source = BIO_new_mem_buf(pem, Int32(pem.count))
        defer { BIO_free(source) }
        let certificate = PEM_read_bio_X509(source, nil, nil, nil)
        let key = PEM_read_bio_PrivateKey(source, nil, nil, nil)
        SSL_CTX_use_certificate(context, certificate)
        SSL_CTX_use_PrivateKey(context, key)
        X509_free(certificate)
        EVP_PKEY_free(key)
    }
}
