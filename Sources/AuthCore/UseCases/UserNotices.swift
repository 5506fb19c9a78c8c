internal import Networking

/// Tells Pro users by mail of changes to what they log in with.
public struct UserNotices: Sendable {
    private let mailer: (any UserMailer)?
    private let allowance: MailAllowance

    /// - Parameter mailer: `nil` where the server sends no mail.
    public init(mailer: (any UserMailer)?, stores: Stores, limiter: RateLimiter) {
        self.mailer = mailer
        allowance = MailAllowance(limiter, ledger: stores.challenges)
    }

    /// Sends the notice later, and returns at once. The change has been made: it does not fail
    /// because nobody is told of it.
    public func notify(_ user: User, of notice: UserNotice, by caller: Caller) {
        _ = mailer?.send(for: caller.address) { [allowance] in
            _ = try await allowance.take(
                user.emailVerified == nil ? .unverifiedNotice : .notice, for: user.email,
                by: caller)
            return UserMail(
                to: user, .notice(notice, client: caller.address.description), time: caller.now)
        }
    }
}
