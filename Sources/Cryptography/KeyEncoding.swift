internal import COpenSSL

/// Public keys as text (RFC 7468). Private keys are never written as text.
enum PEM {
    /// Longer than the longest accepted key.
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
            // For an encrypted block OpenSSL would ask for a password on the terminal and wait.
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

/// Calls OpenSSL's `i2d` functions: once for the length, once for the bytes.
enum DER {
    typealias Encoder = (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32

    static func bytes(_ encode: Encoder) -> [UInt8]? {
        let count = Int(encode(nil))
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: count) { target, written in
            var cursor = target.baseAddress
            written = Int(encode(&cursor))
        }
    }
}
