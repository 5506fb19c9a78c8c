public import Networking

/// Creates mailboxes with passwords, for the accounts API and for the operator's command. It
/// decides on which domain a mailbox may be, which credential is stored for it and what its quota
/// is.
public struct MailboxRegistrar: UseCases {
    public typealias Failure = AccountsError

    private let accounts: any AccountStore
    private let domains: any DomainStore
    private let policy: AddressPolicy
    private let hasher: PasswordHasher
    private let settings: AccountsSettings
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: returns that many random bytes, fit for keys.
    public init(
        stores: Stores, policy: AddressPolicy, hasher: PasswordHasher, settings: AccountsSettings,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        accounts = stores.accounts
        domains = stores.domains
        self.policy = policy
        self.hasher = hasher
        self.settings = settings
        self.random = random
    }

    /// - Returns: the domain that the address is on; `nil` for one of the configuration.
    /// - Throws: ``AccountsError/invalidAddress`` for a name that no new mailbox can have, and for
    ///   a single label that is not configured; ``AccountsError/invalidDomain`` for a domain that
    ///   `owner` may not create mailboxes on.
    public func domain(
        of address: Address, for owner: User?
    ) async throws(AccountsError) -> DomainID? {
        guard policy.allowsNewName(address.localPart) else { throw .invalidAddress }
        let name = address.domain
        if policy.domains.contains(name) { return nil }
        guard let domain = try await attempt(await domains.domain(named: name)) else {
            guard name.text.utf8.contains(UInt8(ascii: ".")) else { throw .invalidAddress }
            throw .invalidDomain
        }
        let mayUse =
            domain.owner == nil
            ? owner != nil || !domain.isProOnly
            : domain.owner == owner?.id
        guard mayUse else { throw .invalidDomain }
        return domain.id
    }

    /// - Parameters:
    ///   - domain: from ``domain(of:for:)``.
    ///   - limit: how many accounts the owner may have; `nil` for no limit.
    ///   - allowsReserved: whether a reserved name may be assigned.
    ///   - client: who asked for it; `nil` for the operator.
    ///   - event: records the creation; the account's creation time is the event's time.
    /// - Throws: ``AccountsError/passwordTooShort``, ``AccountsError/accountLimitReached``,
    ///   ``AccountsError/addressTaken``, or ``AccountsError/invalidDomain`` when the domain
    ///   was removed meanwhile.
    public func add(
        _ address: Address, on domain: DomainID?, secret: MailboxSecret, owner: User?, limit: Int?,
        allowsReserved: Bool, for client: IPAddress?,
        recording event: @Sendable (AccountID) -> AuditEvent
    ) async throws(AccountsError) -> Account {
        try secret.checkLength()
        // Checked before the hash, which costs more than everything else; decided after it.
        let obstacle = try await attempt(
            await accounts.obstacle(to: address, of: owner?.id, limit: limit))
        guard obstacle != .limitReached else { throw .accountLimitReached }
        guard obstacle == nil, allowsReserved || !policy.reserved.contains(address.localPart.text)
        else { throw .addressTaken }
        let hash = try await attempt(await hasher.hash(secret.forHashing(at: address), for: client))
        let id = AccountID(random: random(16))
        let event = event(id)
        let account = Account(
            id: id, address: address, credential: .password(hash), owner: owner?.id,
            quota: owner == nil ? settings.freeQuota : settings.proQuota, created: event.time)
        switch try await attempt(
            await accounts.insert(account, on: domain, limit: limit, recording: event))
        {
        case .inserted: return account
        case .limitReached: throw .accountLimitReached
        case .addressTaken: throw .addressTaken
        case .domainGone: throw .invalidDomain
        }
    }
}
