/// What a client sends to open or set up a mailbox: the password, or the `auth_key` that it
/// derived from it. Both name the same credential.
public enum MailboxSecret: Sendable, CustomStringConvertible, CustomReflectable {
    public static let passwordOctets = 6...1024
    public static let authKeyOctets = 32

    /// Bytes as sent, no Unicode normalisation, at most 1,024.
    case password([UInt8])
    /// Exactly 32 bytes.
    case authKey([UInt8])

    /// - Throws: ``Refusal/passwordTooShort``. Only a new password has to be long enough: at a
    ///   login one of any length is simply wrong.
    func checkLength() throws(Refusal) {
        if case .password(let bytes) = self, bytes.count < Self.passwordOctets.lowerBound {
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
