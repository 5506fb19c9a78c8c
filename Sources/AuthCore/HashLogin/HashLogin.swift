/// A registration of the hash-login surface: an email address and where its owner serves an Argon2
/// hash. The password is not here, and neither is the hash: a login checks against what the URL
/// serves at that moment.
public struct HashLogin: Equatable, Sendable {
    public let email: Email
    public let url: HashURL
    /// Moves with every logout; a login token of an older one is dead.
    public var credentialVersion: Int64
    public let created: Instant

    public init(email: Email, url: HashURL, credentialVersion: Int64 = 1, created: Instant) {
        self.email = email
        self.url = url
        self.credentialVersion = credentialVersion
        self.created = created
    }
}

/// A URL that a ``HashFetcher`` found to be one it would fetch.
public struct HashURL: Equatable, Sendable, CustomStringConvertible {
    public let text: String

    /// - Parameter text: what the fetcher accepted, or a store kept.
    public init(text: String) {
        self.text = text
    }

    public var description: String { text }
}

/// Fetches what a hash URL serves, under the rules of contract section 3.
public protocol HashFetcher: Sendable {
    /// - Returns: `nil` for what is no URL, or not one that may be fetched as far as its text
    ///   tells: scheme, port, user info, a numeric host that is not in canonical form.
    func url(parsing text: String) -> HashURL?

    /// The body that `url` serves now, a few KiB at most.
    /// - Parameter timeout: for everything, from the name's resolution to the last byte.
    /// - Throws: ``HashFetchFailure`` for whatever kept it from coming;
    ///   ``Refusal/busy(retryAfter:)`` when too many fetches are waiting, and nothing was begun.
    func fetch(_ url: HashURL, timeout: Duration) async throws -> [UInt8]

    /// - Throws: ``Refusal/busy(retryAfter:)`` while every fetch would be turned away, whatever its
    ///   host.
    func demandRoom() throws(Refusal)
}

/// A hash URL did not give what it should. The cause is for the operator's log; clients are told
/// one thing whatever it was.
public struct HashFetchFailure: Error, Sendable {
    public let cause: String

    public init(cause: String) {
        self.cause = cause
    }
}
