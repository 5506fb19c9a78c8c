internal import COpenSSL

/// Public keys as text (RFC 7468). Private keys never take this form here.
enum PEM {
    /// More than the longest accepted key needs.
    private static let maximumBytes = 16_384

    /// The first `PUBLIC KEY` block of the text; the caller owns the key.
    static func publicKey(_ text: String) -> OpaquePointer? {
        let bytes = Array(text.utf8)
        guard bytes.count <= maximumBytes else { return nil }
        defer { ErrorQueue.clear() }
        return bytes.withUnsafeBytes { buffer in
            guard let source = BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count)) else {
                return nil
            }
            defer { BIO_free(source) }
            // A block may claim to be encrypted. Without a password given here OpenSSL would ask
            // for one on the terminal and wait.
            var password: [UInt8] = [0]
            return PEM_read_bio_PUBKEY(source, nil, nil, &password)
        }
    }

    static func text(publicKey key: OpaquePointer) -> String? {
        guard let target = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(target) }
        guard PEM_write_bio_PUBKEY(target, key) == 1 else { return nil }
        let count = BIO_ctrl_pending(target)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
            read = max(0, Int(BIO_read(target, buffer.baseAddress, Int32(count))))
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
