internal import Cryptography
internal import Networking

/// Bounds the mail to one mailbox, on all servers that share a database together. Mailboxes that
/// nobody has are counted alike.
///
/// Each message takes a few marks in the database, which last an hour. So that one site cannot keep
/// the user from getting links, it can cause only a part of those that the mailbox may get.
struct MailAllowance: Sendable {
    /// Messages that are counted together, so that those that anybody can cause do not use up
    /// those of the user.
    enum Kind: String, CaseIterable {
        case passwordReset = "reset"
        case emailVerification = "verification"
        /// To an email that its user has verified.
        case notice
        /// To an email that may be somebody else's.
        case unverifiedNotice = "unverified-notice"

        /// In an hour, to one mailbox.
        var count: Int {
            switch self {
            case .passwordReset, .emailVerification: 9
            case .notice, .unverifiedNotice: 10
            }
        }

        /// How many of them one site may cause; `nil` for all.
        var countOfSite: Int? {
            switch self {
            case .passwordReset, .emailVerification: 3
            case .notice, .unverifiedNotice: nil
            }
        }

        /// Whether emails that differ in what follows `+` are counted as one mailbox: whoever has
        /// one may add users with the others. A verified email shows that its user reads the
        /// mailbox; nobody else can use up its notices.
        fileprivate var countsMailbox: Bool { self != .notice }
    }

    /// A message that was counted.
    struct Mark: Sendable {
        fileprivate var ids: [String] = []
    }

    private static let period: Duration = .seconds(3_600)

    private let ledger: any ChallengeLedger
    private let isEnabled: Bool

    init(_ limiter: RateLimiter, ledger: any ChallengeLedger) {
        self.ledger = ledger
        isEnabled = limiter.isEnabled
    }

    /// - Throws: ``RateLimited`` when the mailbox has had as many messages as it may, or as many as
    ///   the caller's site may cause, or an error of the store.
    func take(_ kind: Kind, for email: Email, by caller: Caller) async throws -> Mark? {
        guard isEnabled else { return nil }
        let mailbox = kind.countsMailbox ? email.withoutSuffix : email.text
        var mark = Mark()
        if let count = kind.countOfSite {
            mark.ids.append(
                try await hold(
                    "\(kind.rawValue)-site", "\(mailbox) \(caller.address.site)", of: count,
                    at: caller.now))
        }
        do {
            mark.ids.append(
                try await hold(kind.rawValue, mailbox, of: kind.count, at: caller.now))
        } catch {
            await giveBack(mark)
            throw error
        }
        return mark
    }

    /// Uncounts a message that is not sent.
    func giveBack(_ mark: Mark?) async {
        for id in mark?.ids ?? [] {
            // The client gets the original error. The mark ends by itself.
            try? await ledger.restore(id)
        }
    }

    /// Takes one of the marks of `subject`.
    /// - Returns: its id.
    private func hold(
        _ kind: String, _ subject: String, of count: Int, at now: Instant
    ) async throws -> String {
        // The table of marks shows nobody's email.
        let name = Base64URL.encode(SHA256.digest(Array(subject.utf8)))
        for number in 0..<count {
            // No challenge and no token has a space in its id.
            let id = "mail \(kind) \(number) \(name)"
            if try await ledger.hold(id, until: now.advanced(by: Self.period), at: now) {
                return id
            }
        }
        throw RateLimited(retryAfter: Self.period / count)
    }
}
