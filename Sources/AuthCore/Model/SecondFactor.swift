/// The one-time codes of a user as they are stored.
public struct StoredTOTP: Equatable, Sendable {
    public let owner: UserID
    /// The secret of the codes, encrypted.
    public let sealedSecret: [UInt8]
    /// The step of the last code that was accepted. Neither it nor an earlier one counts again.
    public let lastStep: Int64
    public let created: Instant

    public init(owner: UserID, sealedSecret: [UInt8], lastStep: Int64, created: Instant) {
        self.owner = owner
        self.sealedSecret = sealedSecret
        self.lastStep = lastStep
        self.created = created
    }
}

/// What a user has beside a password.
public struct Factors: Equatable, Sendable {
    /// When one-time codes were turned on. Since then a second factor is asked for.
    public let totpCreated: Instant?
    /// Recovery codes that were not used.
    public let recoveryCodes: Int
    public let passkeys: Int

    public init(totpCreated: Instant?, recoveryCodes: Int, passkeys: Int) {
        self.totpCreated = totpCreated
        self.recoveryCodes = recoveryCodes
        self.passkeys = passkeys
    }
}

/// How often one-time codes of a user may be guessed wrong.
///
/// 15 at once, and one more each 96 minutes: at most 30 in 24 hours, whichever servers and clients
/// they come from. Three codes of a million are valid at a time, so guessing for a day succeeds
/// with a probability of at most 30 × 3 / 1,000,000 = 0.00009.
///
/// The rule needs one time for each user: when all wrong guesses are forgotten. Each guess moves it
/// on by ``interval``.
public enum CodeGuesses {
    static let atOnce = 15
    static let interval: Duration = .seconds(5_760)
    public static let intervalMilliseconds: Int64 = interval.wholeMilliseconds

    /// - Parameter forgotten: the stored time.
    /// - Returns: the time to store for a guess now; `nil` when none is allowed.
    public static func next(after forgotten: Instant, at now: Instant) -> Instant? {
        forgotten <= latest(at: now) ? max(forgotten, now).advanced(by: interval) : nil
    }

    /// The latest stored time with which a guess is allowed now.
    public static func latest(at now: Instant) -> Instant { now.advanced(by: greatestLead) }

    /// The latest stored time that counts now. A later one was stored while a clock was wrong. It
    /// counts, and is stored, as this one; otherwise it would keep the user out until then. Two
    /// days, so that a clock that is wrong by less than a day allows no more guesses than a right
    /// one.
    public static func bound(at now: Instant) -> Instant {
        now.advanced(by: interval * (2 * atOnce))
    }

    /// When a guess is allowed again.
    public static func nextGuess(after forgotten: Instant) -> Instant {
        forgotten.advanced(by: .zero - greatestLead)
    }

    private static let greatestLead: Duration = interval * (atOnce - 1)
}

/// The result of asking for a guess.
public enum CodeGuess: Equatable, Sendable {
    case allowed(StoredTOTP)
    /// Too many wrong codes; another one may be tried then.
    case limited(until: Instant)
    /// The user has no one-time codes.
    case missing
}
