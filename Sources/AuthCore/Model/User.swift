public typealias UserID = Identifier<User>

/// A Pro user: owns mailboxes, API tokens and domains.
public struct User: Equatable, Sendable {
    public enum State: String, Sendable { case active, disabled }

    public let id: UserID
    public let email: Email
    public var state: State
    /// The hash of the password's bytes as they were sent; `nil` for a user who signs in by other
    /// means only.
    public var password: PasswordHash?
    /// Rises with every logout, password change and disabling; a Pro JWT of an older version is
    /// invalid.
    public var credentialVersion: Int64
    public let created: Instant
    /// When the user proved to receive mail at the email; `nil` until then.
    public var emailVerified: Instant?

    public init(
        id: UserID, email: Email, state: State = .active, password: PasswordHash?,
        credentialVersion: Int64 = 1, created: Instant, emailVerified: Instant? = nil
    ) {
        self.id = id
        self.email = email
        self.state = state
        self.password = password
        self.credentialVersion = credentialVersion
        self.created = created
        self.emailVerified = emailVerified
    }
}
