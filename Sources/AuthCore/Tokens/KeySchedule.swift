/// When the keys of one use sign. It follows from the stored keys alone, so every server on a
/// database, and every command, computes the same schedule.
public struct KeySchedule: Sendable {
    /// The role of a key at one moment.
    public enum State: Equatable, Sendable {
        /// It signs new tokens. `until` is set if the next key already exists.
        case signs(until: Instant?)
        /// Verifiers can fetch it. It does not sign before this instant.
        case published(signsFrom: Instant)
        /// It signs no new tokens. The ones that it has signed are valid until this instant.
        case verifies(until: Instant)
        /// Its tokens are not valid any more.
        case ended
    }

    /// The id of the newest key, which is not retired.
    let current: String
    let created: Instant
    /// When the current key begins to sign, if there is a key before it.
    public let signsFrom: Instant
    /// The id of the newest retired key, and the instant until which it verifies.
    let previous: String?
    private let previousEnd: Instant

    /// - Parameter stored: the keys as ``SigningKeyStore/keys()`` lists them; those of other uses
    ///   are left out.
    /// - Returns: `nil` when there is no key of this use that is not retired.
    public init?(of use: KeyUse, in stored: [SealedKey]) {
        let keys = stored.filter { $0.use == use }
        guard let current = keys.first(where: { $0.retired == nil }) else { return nil }
        let previous = keys.first { $0.retired != nil }
        self.current = current.id
        created = current.created
        signsFrom = current.created.advanced(by: use.publicationLead)
        self.previous = previous?.id
        previousEnd = previous?.retired ?? current.created
    }

    /// Whether the key before the current one still signs.
    func previousSigns(at now: Instant) -> Bool {
        previous != nil && now < signsFrom && now < previousEnd
    }

    /// The id of the key that signs.
    public func signer(at now: Instant) -> String {
        if let previous, previousSigns(at: now) { return previous }
        return current
    }

    /// - Parameter key: one of the keys that the schedule was made from.
    public func state(of key: SealedKey, at now: Instant) -> State {
        if key.id == signer(at: now) { return .signs(until: key.id == current ? nil : signsFrom) }
        guard let retired = key.retired else { return .published(signsFrom: signsFrom) }
        return now < retired ? .verifies(until: retired) : .ended
    }
}

extension KeyUse {
    /// Whether its public keys are published. Other programs then verify with them and cache them.
    public var isPublished: Bool {
        switch self {
        case .agent, .accounts: false
        case .capability, .login: true
        }
    }

    /// How long a new key of this use is stored before it signs. For a key that other programs
    /// verify with, it is longer than two times together: the five minutes for which caches keep
    /// the key set, and the time in which other servers on the database read the key.
    public var publicationLead: Duration { isPublished ? .seconds(360) : .zero }
}
