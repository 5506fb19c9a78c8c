internal import COpenSSL
internal import CSocket
internal import Cryptography
internal import Synchronization

/// What the TLS connections of a listener share: certificates, and TLS 1.2 and 1.3 with the suites
/// and groups of Mozilla's "intermediate" configuration. Immutable. A listener can change to
/// another context (``ListenerTLS``); a connection keeps its context.
///
/// The suites with finite-field DHE are left out: every client with TLS 1.2 knows elliptic curves,
/// and a client could make the server compute the expensive ones.
///
/// The process must ignore SIGPIPE, because OpenSSL writes to sockets by write(2).
public final class TLSContext: Sendable {
    private static let suites =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256"
        + ":ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"
        + ":ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
    private static let groups = "X25519:P-256:P-384"
    /// Bytes of the certificates that a client sends.
    private static let clientCertificateBytes = 16_384

    /// One for each certificate. The callbacks have the addresses of this object, of the
    /// certificates and of the tickets.
    private let contexts: [ForeignHandle]
    private let certificates: [TLSCertificate]
    private let tickets: SessionTickets
    /// The index of the certificate for a name; also for `*.example.com`.
    private let indices: [String: Int]

    /// - Parameters:
    ///   - certificates: the first one is for clients that name no server, or an unknown one. Of
    ///     several for one name the first is used.
    ///   - clientAuthorities: certificates in PEM. Clients must have a certificate of one of them,
    ///     and sessions are not resumed: a resumed one would not be checked again.
    public init(
        _ certificates: [TLSCertificate], clientAuthorities: [UInt8]? = nil,
        tickets: SessionTickets
    ) throws(TLSError) {
        var made: [OpaquePointer] = []
        do throws(TLSError) {
            for certificate in certificates {
                guard let context = SSL_CTX_new(TLS_server_method()) else { throw .last }
                made.append(context)
                try Self.configure(context)
                try certificate.install(in: context)
                if let clientAuthorities {
                    try Self.requireCertificates(of: clientAuthorities, in: context)
                } else {
                    tickets.install(in: context)
                }
                Self.staple(certificate, in: context)
            }
        } catch {
            for context in made { SSL_CTX_free(context) }
            throw error
        }
        let names = certificates.enumerated().flatMap { index, certificate in
            certificate.names.map { ($0, index) }
        }
        indices = Dictionary(names) { first, _ in first }
        self.certificates = certificates
        self.tickets = tickets
        contexts = made.map(ForeignHandle.init)
        if certificates.count > 1 { selectByName() }
    }

    deinit {
        for context in contexts { SSL_CTX_free(context.pointer) }
    }

    /// A session on a connected socket, which the caller frees, before this object; nil without
    /// memory.
    func makeSession(on descriptor: Int32) -> OpaquePointer? {
        ERR_clear_error()
        guard let session = SSL_new(contexts[0].pointer) else { return nil }
        guard SSL_set_fd(session, descriptor) == 1 else {
            SSL_free(session)
            return nil
        }
        SSL_set_accept_state(session)
        return session
    }

    private static func configure(_ context: OpaquePointer) throws(TLSError) {
        postern_set_server_options(context)
        SSL_CTX_set_security_level(context, 2)
        let versions = [
            (SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION),
            (SSL_CTRL_SET_MAX_PROTO_VERSION, TLS1_3_VERSION),
        ]
        guard
            versions.allSatisfy({ SSL_CTX_ctrl(context, $0, Int($1), nil) == 1 }),
            SSL_CTX_set_cipher_list(context, suites) == 1,
            SSL_CTX_set_ciphersuites(
                context,
                "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256") == 1,
            setGroups(context), SSL_CTX_set_max_early_data(context, 0) == 1
        else { throw .last }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, Int(SSL_SESS_CACHE_OFF), nil)
        // Waiting output may move in memory, because responses are appended to it. Buffers are
        // freed while there is no data.
        SSL_CTX_ctrl(
            context, SSL_CTRL_MODE,
            Int(
                SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                    | SSL_MODE_RELEASE_BUFFERS), nil)
        // A read ends after a record without data. A client that sends only such records would
        // otherwise keep the loop.
        SSL_CTX_ctrl(context, SSL_CTRL_CLEAR_MODE, Int(SSL_MODE_AUTO_RETRY), nil)
        selectProtocol(context)
    }

    private static func setGroups(_ context: OpaquePointer) -> Bool {
        groups.withCString {
            SSL_CTX_ctrl(
                context, SSL_CTRL_SET_GROUPS_LIST, 0, UnsafeMutableRawPointer(mutating: $0)) == 1
        }
    }

    /// ALPN (RFC 7301). A client that offers only other protocols is rejected, so that requests of
    /// one protocol cannot be sent to a server of another.
    private static func selectProtocol(_ context: OpaquePointer) {
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, selected, selectedBytes, offered, offeredBytes, _ in
                // The result of OpenSSL points into the list of the client.
                var result: UnsafeMutablePointer<UInt8>?
                let found = "\u{8}http/1.1".withCString { own in
                    own.withMemoryRebound(to: UInt8.self, capacity: 9) {
                        SSL_select_next_proto(
                            &result, selectedBytes, offered, offeredBytes, $0, 9)
                    }
                }
                guard found == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                selected?.pointee = UnsafePointer(result)
                return SSL_TLSEXT_ERR_OK
            }, nil)
    }

    private static func requireCertificates(
        of authorities: [UInt8], in context: OpaquePointer
    ) throws(TLSError) {
        let authorities = PEMFile.certificates(in: authorities)
        defer { for authority in authorities { X509_free(authority) } }
        guard !authorities.isEmpty else { throw .noAuthority }
        guard authorities.allSatisfy({ postern_trust_clients_of(context, $0) == 1 }) else {
            throw .last
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_CERT_LIST, clientCertificateBytes, nil)
        postern_never_resume(context)
    }

    private static func staple(_ certificate: TLSCertificate, in context: OpaquePointer) {
        guard certificate.response != nil else { return }
        postern_on_status_request(
            context,
            { session, argument in
                guard let argument else { return SSL_TLSEXT_ERR_NOACK }
                let certificate = Unmanaged<TLSCertificate>.fromOpaque(argument)
                    .takeUnretainedValue()
                guard let response = certificate.response,
                    response.isCurrent(at: csocket_wall_seconds()),
                    postern_staple(session, response.bytes, response.bytes.count) == 1
                else { return SSL_TLSEXT_ERR_NOACK }
                return SSL_TLSEXT_ERR_OK
            }, Unmanaged.passUnretained(certificate).toOpaque())
    }

    /// SNI (RFC 6066 §3).
    private func selectByName() {
        postern_on_server_name(
            contexts[0].pointer,
            { session, _, argument in
                if let argument {
                    Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
                        .select(for: session)
                }
                return SSL_TLSEXT_ERR_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func select(for session: OpaquePointer?) {
        guard let name = SSL_get_servername(session, TLSEXT_NAMETYPE_host_name) else { return }
        let host = String(cString: name).lowercased()
        let index =
            indices[host] ?? TLSCertificate.wildcard(of: host).flatMap { indices[$0] } ?? 0
        SSL_set_SSL_CTX(session, contexts[index].pointer)
    }
}

/// The TLS of a listener, which can be replaced while it serves.
public final class ListenerTLS: Sendable {
    private let context: Mutex<TLSContext>

    public init(_ context: TLSContext) { self.context = Mutex(context) }

    /// Connections that are accepted from now on use `context`.
    public func replace(with context: TLSContext) { self.context.withLock { $0 = context } }

    var current: TLSContext { context.withLock { $0 } }
}
