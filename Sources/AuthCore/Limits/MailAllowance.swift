internal import Cryptography

/// Bounds the mail to one address, on all servers that share a database together. Addresses that
/// nobody has are counted alike.
///
/// Each message takes one of a few marks in the database, which lasts an hour.
struct MailAllowance: Sendable {
    /// Messages that are counted together, so that those that anybody can cause do not use up
    /// those of the user.
    enum Kind: String, CaseIterable {
        case passwordReset = "reset"
        case emailVerification = "verification"
        case notice

        /// In an hour.
        var count: Int { self == .notice ? 10 : 3 }
    }

    /// A message that was counted.
    struct Mark: Sendable {
        fileprivate let id: String
    }

    private static let period: Duration = .seconds(3_600)

    private let ledger: any ChallengeLedger
    private let isEnabled: Bool

    init(_ limiter: RateLimiter, ledger: any ChallengeLedger) {
        self.ledger = ledger
        isEnabled = limiter.isEnabled
    }

    /// - Throws: ``RateLimited`` when the address has had as many messages as it may, or an error
    ///   of the store.
    func take(_ kind: Kind, for email: Email, at now: Instant) async throws -> Mark? {
        guard isEnabled else { return nil }
        // The table of marks shows nobody's email.
        let name = Base64URL.encode(SHA256.digest(Array(email.text.utf8)))
        for number in 0..<kind.count {
            // No challenge and no token has a space in its id.
            let mark = Mark(id: "mail \(kind.rawValue) \(number) \(name)")
            if try await ledger.hold(mark.id, until: now.advanced(by: Self.period), at: now) {
                return mark
            }
        }
        throw RateLimited(retryAfter: Self.period / kind.count)
    }

    /// Uncounts a message that is not sent.
    func giveBack(_ mark: Mark?) async {
        guard let mark else { return }
        // The client gets the original error. The mark ends by itself.
        try? await ledger.restore(mark.id)
    }
}
