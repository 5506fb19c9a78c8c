internal import Cryptography

/// The secret that a caller sends to log in. Never printed.
public enum PasswordSecret: Equatable, Sendable {
    /// A Pro user's password, as it was sent.
    case bytes([UInt8])
    /// A mailbox's password. The credential is the `auth_key` derived from it and the address.
    case mailbox(password: [UInt8], address: Address)
    /// A mailbox's `auth_key`, derived by the client.
    case authKey([UInt8])

    /// The bytes that the stored hash is computed over. For ``mailbox(password:address:)`` they are
    /// an Argon2 hash themselves, so this runs on the hashing pool only.
    func credential(_ kernel: Argon2.Kernel) throws -> [UInt8] {
        switch self {
        case .bytes(let bytes), .authKey(let bytes): bytes
        case .mailbox(let password, let address):
            // Clients compute the same (docs/api.md, "Accounts API"), so these parameters can never
            // change.
            try Argon2.hash(
                password: password, salt: SHA256.digest(Array(address.description.utf8)),
                iterations: 3, memoryKiB: 16_384, parallelism: 1, outputBytes: 32,
                variant: .argon2id, kernel: kernel)
        }
    }
}

extension PasswordSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
