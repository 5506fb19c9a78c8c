internal import COpenSSL

/// Reads the blocks of a file in PEM (RFC 7468).
enum PEMFile {
    /// All certificates, which the caller frees.
    static func certificates(in content: [UInt8]) -> [OpaquePointer] {
        read(content) { source in
            var found: [OpaquePointer] = []
            var noPassword: [UInt8] = [0]
            while let next = PEM_read_bio_X509(source, nil, nil, &noPassword) {
                found.append(next)
            }
            return found
        }
    }

    /// The first private key, which the caller frees; nil where there is none without a password.
    static func privateKey(in content: [UInt8]) -> OpaquePointer? {
        read(content) { source in
            // For an encrypted key OpenSSL would ask for a password on the terminal and wait.
            var noPassword: [UInt8] = [0]
            return PEM_read_bio_PrivateKey(source, nil, nil, &noPassword)
        }
    }

    private static func read<Result>(
        _ content: [UInt8], _ body: (OpaquePointer?) -> Result
    ) -> Result {
        content.withUnsafeBytes { bytes in
            let source = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count))
            defer {
                BIO_free(source)
                ERR_clear_error()
            }
            return body(source)
        }
    }
}
