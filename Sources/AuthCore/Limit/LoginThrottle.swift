internal import Synchronization

/// Slows down whoever guesses passwords.
public final class LoginThrottle: Sendable {
    /// What the operator sets.
    public struct Settings: Equatable, Sendable {
        public var isEnabled: Bool

        public init(isEnabled: Bool = true) {
            self.isEnabled = isEnabled
        }
    }

    /// - Parameter random: gives so many random bytes, fit for keys.
    public init(settings: Settings = Settings(), random: (Int) -> [UInt8]) {
    }

    /// To be called before a secret is looked at. Unknown accounts are treated as known ones.
    /// - Parameter account: an address or an email in its normal form, whether it exists or not.
    /// - Throws: ``Refusal/tooManyRequests(retryAfter:)``.
    public func admit(account: String, from client: ClientAddress, at now: Instant) throws(Refusal)
    {
    }

    /// Counts a secret that was wrong, unless it is one of the last that were.
    public func recordFailure(
        account: String, secret: PasswordSecret, from client: ClientAddress, at now: Instant
    ) {
    }

    public func recordSuccess(account: String, from client: ClientAddress, at now: Instant) {
    }
}
