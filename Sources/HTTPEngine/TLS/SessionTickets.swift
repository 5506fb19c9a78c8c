internal import COpenSSL
internal import Cryptography
internal import Synchronization

/// The session tickets of the TLS contexts of a process: connections to one of them can be resumed
/// on another.
public final class SessionTickets: Sendable {
    private let keys: Mutex<TicketKeys>

    public init() { keys = Mutex(TicketKeys(at: .now())) }

    /// Has a context encrypt tickets with these keys. The context must be freed before this object.
    func install(in context: OpaquePointer) {
        SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(self).toOpaque())
        SSL_CTX_set_tlsext_ticket_key_evp_cb(context) { session, name, iv, cipher, mac, isNew in
            let context = SSL_get_SSL_CTX(session)
            guard let tickets = SSL_CTX_get_ex_data(context, 0), let name, let iv else { return -1 }
            return Unmanaged<SessionTickets>.fromOpaque(tickets).takeUnretainedValue()
                .prepare(
                    name, iv, cipher, mac, isNew: isNew != 0,
                    isUsedOnce: SSL_version(session) == TLS1_3_VERSION)
        }
        // In seconds. A ticket is useless after its key was dropped.
        SSL_CTX_set_timeout(context, Int(TicketKeys.period.nanoseconds / 1_000_000_000))
        // One is enough: a client that resumes gets the next one.
        SSL_CTX_set_num_tickets(context, 1)
    }

    /// - Parameter isUsedOnce: the client gets a new ticket when it uses one. So nobody can
    ///   recognise it by its ticket (RFC 8446 §C.4), and the end of its handshake is acknowledged
    ///   at once. Otherwise a client with Nagle's algorithm would wait 40 ms before its first
    ///   request.
    /// - Returns: what OpenSSL expects: 1, 2 for a ticket that should be replaced, 0 for an unknown
    ///   one, -1 on failure.
    private func prepare(
        _ name: UnsafeMutablePointer<UInt8>, _ iv: UnsafeMutablePointer<UInt8>,
        _ cipher: OpaquePointer?, _ mac: OpaquePointer?, isNew: Bool, isUsedOnce: Bool
    ) -> Int32 {
        let algorithm = EVP_aes_256_cbc()
        let now = MonotonicTime.now()
        if isNew {
            let key = keys.withLock { $0.newest(at: now) }
            name.update(from: key.name, count: key.name.count)
            let start = RandomBytes.make(Int(EVP_CIPHER_get_iv_length(algorithm)))
            iv.update(from: start, count: start.count)
            let isPrepared =
                EVP_EncryptInit_ex(cipher, algorithm, nil, key.encryption, iv) == 1
                && Self.prepare(mac, key)
            return isPrepared ? 1 : -1
        }
        let bytes = UnsafeBufferPointer(start: name, count: TicketKeys.Key.nameBytes)
        guard let (key, isNewest) = keys.withLock({ $0.find(bytes, at: now) }) else { return 0 }
        guard EVP_DecryptInit_ex(cipher, algorithm, nil, key.encryption, iv) == 1,
            Self.prepare(mac, key)
        else { return -1 }
        return isNewest && !isUsedOnce ? 1 : 2
    }

    private static func prepare(_ mac: OpaquePointer?, _ key: TicketKeys.Key) -> Bool {
        OSSL_MAC_PARAM_DIGEST.withCString { name in
            var digest = Array("SHA256".utf8CString)
            return digest.withUnsafeMutableBufferPointer { value in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(name, value.baseAddress, 0),
                    OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(
                    mac, key.authentication, key.authentication.count, parameters) == 1
            }
        }
    }
}
