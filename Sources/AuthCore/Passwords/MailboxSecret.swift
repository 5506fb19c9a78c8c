/// The secret with which a client creates a mailbox or logs in to it: the password, or the
/// `auth_key` that the client derived from the password. Both are the same credential.
public enum MailboxSecret: Sendable, CustomStringConvertible, CustomReflectable {
    public static let passwordBytes = 6...1024
    public static let authKeyBytes = 32

    /// Bytes as sent, no Unicode normalisation, at most 1,024.
    case password([UInt8])
    /// Exactly 32 bytes.
    case authKey([UInt8])

    /// Checks a new password. Not for a login, at which a password of any length is verified.
    /// - Throws: ``AccountsError/passwordTooShort``.
    func checkLength() throws(AccountsError) {
        if case .password(let bytes) = self, bytes.count < Self.passwordBytes.lowerBound {
            throw .passwordTooShort
        }
    }

    func forHashing(at address: Address) -> PasswordSecret {
        switch self {
        case .password(let bytes): .mailbox(password: bytes, address: address)
        case .authKey(let bytes): .authKey(bytes)
        }
    }

    public var description: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
