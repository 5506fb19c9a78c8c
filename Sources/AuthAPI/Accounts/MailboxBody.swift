internal import AuthCore
internal import Cryptography

extension JSONBody {
    /// The `password` or `auth_key` of a mailbox; `auth_key` is used when both are given.
    /// - Throws: ``CommonError/malformedRequest(_:)`` when there is neither, when `auth_key` is not
    ///   64 hex digits, or when the password is over 1,024 bytes.
    func mailboxSecret() throws(Failure) -> MailboxSecret {
        if let text = try string("auth_key") {
            guard text.utf8.count == 2 * MailboxSecret.authKeyBytes,
                let bytes = Hex.decode(text.utf8)
            else { throw .malformed("`auth_key` must be 64 hex digits.") }
            return .authKey(bytes)
        }
        guard let bytes = try password("password") else {
            throw .malformed("`password` or `auth_key` is missing.")
        }
        return .password(bytes)
    }

    /// A password as the bytes that were sent, or `nil` when the member is absent.
    func password(_ name: String) throws(Failure) -> [UInt8]? {
        guard let text = try string(name) else { return nil }
        guard text.utf8.count <= MailboxSecret.passwordBytes.upperBound else {
            throw .malformed("`\(name)` must have at most 1,024 bytes.")
        }
        return Array(text.utf8)
    }

    func requiredPassword(_ name: String) throws(Failure) -> [UInt8] {
        guard let bytes = try password(name) else {
            throw .malformed("`\(name)` is missing.")
        }
        return bytes
    }
}
