public import Networking

/// A message to a Pro user.
public struct UserMail: Sendable {
    public enum Content: Sendable {
        case emailVerification(EmailLinkToken)
        case passwordReset(EmailLinkToken)
        /// - Parameter client: the network address that the change came from.
        case notice(UserNotice, client: String)
    }

    public let user: UserID
    public let recipient: Email
    public let content: Content
    /// When it was caused.
    public let time: Instant

    public init(to user: User, _ content: Content, time: Instant) {
        self.user = user.id
        recipient = user.email
        self.content = content
        self.time = time
    }
}

/// A change that a user is told of, because it may be the work of somebody else.
public enum UserNotice: Equatable, Sendable {
    case passwordChanged
    /// By a link, also one of the operator.
    case passwordReset
    /// With the names that the user has given them.
    case passkeyAdded(name: String)
    case passkeyRemoved(name: String)
    case totpEnabled
    case totpDisabled
    case recoveryCodesReplaced
    case recoveryCodeUsed
    /// With the name that the operator has given the identity provider.
    case providerLinked(name: String)
    case providerUnlinked(name: String)
}

/// Sends mail to users.
public protocol UserMailer: Sendable {
    /// Takes a message that is to be sent, and returns at once. Nothing is sent if `prepare`
    /// returns `nil` or throws.
    /// - Parameters:
    ///   - client: who has caused it; `nil` for the server itself. Clients take turns.
    ///   - prepare: makes the message, later. So the time of the call does not show what there is
    ///     to send.
    /// - Returns: `false` if too many messages wait; then `prepare` is not called.
    func send(
        for client: IPAddress?, _ prepare: @escaping @Sendable () async throws -> UserMail?
    ) -> Bool
}
