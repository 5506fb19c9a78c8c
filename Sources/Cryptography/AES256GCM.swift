internal import COpenSSL

/// Encryption of small secrets that are stored elsewhere (NIST SP 800-38D).
///
/// A sealed box is nonce (12 bytes), ciphertext, tag (16 bytes). The binding is authenticated and
/// not stored: a box can be opened only with the same binding, so that the secret of one row cannot
/// be moved to another row. **A nonce must never be used twice with one key**: that would reveal
/// both plaintexts. Random nonces are safe for 2^32 boxes per key.
public struct AES256GCM: Sendable {
    public static let keyBytes = 32
    public static let nonceBytes = 12
    public static let tagBytes = 16
    /// More than any secret here has, and far below the `Int32` lengths of the library.
    public static let maximumPlaintextBytes = 1 << 20

    private let key: SecretBytes

    private static let algorithm: ForeignHandle = {
        guard let found = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
            preconditionFailure("this OpenSSL has no AES-256-GCM")
        }
        return ForeignHandle(found)
    }()

    public init(key: [UInt8]) throws(CryptographyError) {
        guard key.count == Self.keyBytes else { throw .malformedKey }
        self.key = SecretBytes(key)
    }

    /// - Parameters:
    ///   - binding: the owner of the box, such as the name of a row.
    ///   - nonce: ``nonceBytes`` bytes that were never used with this key.
    public func seal(
        _ plaintext: [UInt8], binding: [UInt8], nonce: [UInt8]
    ) throws(CryptographyError) -> [UInt8] {
        guard nonce.count == Self.nonceBytes else { throw .parameterOutOfBounds("nonce") }
        try checkLengths(plaintext, binding)
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var sealed = [UInt8](repeating: 0, count: plaintext.count)
        var tag = [UInt8](repeating: 0, count: Self.tagBytes)
        var rest = [UInt8](repeating: 0, count: Self.tagBytes)
        var count: Int32 = 0
        guard
            key.withKey({ EVP_EncryptInit_ex2(context, Self.algorithm.pointer, $0, nonce, nil) })
                == 1,
            EVP_EncryptUpdate(context, nil, &count, binding, Int32(binding.count)) == 1,
            EVP_EncryptUpdate(context, &sealed, &count, plaintext, Int32(plaintext.count)) == 1,
            EVP_EncryptFinal_ex(context, &rest, &count) == 1,
            EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), &tag) == 1
        else { throw ErrorQueue.drain(after: "AES-GCM sealing") }
        return nonce + sealed + tag
    }

    /// The plaintext, returned only after the tag was verified.
    /// - Throws: ``CryptographyError/authenticationFailed`` for a box that was changed, truncated,
    ///   or sealed with another key or binding.
    public func open(_ box: [UInt8], binding: [UInt8]) throws(CryptographyError) -> [UInt8] {
        guard box.count >= Self.nonceBytes + Self.tagBytes else { throw .authenticationFailed }
        let nonce = Array(box.prefix(Self.nonceBytes))
        let sealed = Array(box.dropFirst(Self.nonceBytes).dropLast(Self.tagBytes))
        var tag = Array(box.suffix(Self.tagBytes))
        try checkLengths(sealed, binding)
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var plaintext = [UInt8](repeating: 0, count: sealed.count)
        var rest = [UInt8](repeating: 0, count: Self.tagBytes)
        var count: Int32 = 0
        guard
            key.withKey({ EVP_DecryptInit_ex2(context, Self.algorithm.pointer, $0, nonce, nil) })
                == 1,
            EVP_DecryptUpdate(context, nil, &count, binding, Int32(binding.count)) == 1,
            EVP_DecryptUpdate(context, &plaintext, &count, sealed, Int32(sealed.count)) == 1,
            EVP_CIPHER_CTX_ctrl(
                context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), &tag) == 1
        else { throw ErrorQueue.drain(after: "AES-GCM opening") }
        guard EVP_DecryptFinal_ex(context, &rest, &count) == 1 else {
            ErrorQueue.clear()
            throw .authenticationFailed
        }
        return plaintext
    }

    private func checkLengths(_ text: [UInt8], _ binding: [UInt8]) throws(CryptographyError) {
        guard text.count <= Self.maximumPlaintextBytes else {
            throw .parameterOutOfBounds("plaintext")
        }
        guard binding.count <= Self.maximumPlaintextBytes else {
            throw .parameterOutOfBounds("binding")
        }
    }
}

extension SecretBytes {
    /// Calls `body` with the bytes as OpenSSL takes a key.
    fileprivate func withKey(_ body: (UnsafePointer<UInt8>?) -> Int32) -> Int32 {
        withUnsafeBytes { body($0.assumingMemoryBound(to: UInt8.self).baseAddress) }
    }
}
