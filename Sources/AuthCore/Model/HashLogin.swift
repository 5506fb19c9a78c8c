/// A registration of the hash-login API: an email address and the URL at which its owner serves an
/// Argon2 hash. Neither the password nor the hash is stored: a login is verified against the hash
/// that the URL serves at that moment.
public struct HashLogin: Equatable, Sendable {
    public let email: Email
    public let url: HashURL
    /// Rises with every logout; a login token of an older version is invalid.
    public var credentialVersion: Int64
    public let created: Instant

    public init(email: Email, url: HashURL, credentialVersion: Int64 = 1, created: Instant) {
        self.email = email
        self.url = url
        self.credentialVersion = credentialVersion
        self.created = created
    }
}

/// The URL of a hash, in the form in which it was registered.
public struct HashURL: Equatable, Sendable, CustomStringConvertible {
    public let text: String

    /// - Parameter text: a URL that a ``HashFetcher`` accepted, or one from the store.
    public init(text: String) {
        self.text = text
    }

    public var description: String { text }
}
