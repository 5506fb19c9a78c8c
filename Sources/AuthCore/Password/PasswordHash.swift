/// A password as it is stored: an encoded Argon2id string with its own salt and parameters
/// (`$argon2id$v=19$m=…,t=…,p=…$salt$tag`).
public struct PasswordHash: Equatable, Sendable, CustomStringConvertible, CustomReflectable {
    /// The encoded string, for the store.
    public let encoded: String

    /// - Parameter encoded: as a store or a hasher made it; checked where it is verified.
    public init(encoded: String) {
        self.encoded = encoded
    }

    public var description: String { "<redacted>" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
