/// Makes mailboxes with passwords, for the API's use case and for the operator's command: where one
/// may be, what its stored credential is made of and how much it may hold is decided here for both.
///
/// Whether a reserved name may be given out is for the caller to decide.
public struct MailboxRegistrar: Sendable {
    private let accounts: any AccountStore
    private let domains: any DomainStore
    private let policy: AddressPolicy
    private let hasher: PasswordHasher
    private let settings: AccountsSettings
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: gives so many random bytes, fit for keys.
    public init(
        stores: Stores, policy: AddressPolicy, hasher: PasswordHasher, settings: AccountsSettings,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.init(
            accounts: stores.accounts, domains: stores.domains, policy: policy, hasher: hasher,
            settings: settings,
            random: random)
    }

    init(
        accounts: any AccountStore, domains: any DomainStore, policy: AddressPolicy,
        hasher: PasswordHasher, settings: AccountsSettings,
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.accounts = accounts
        self.domains = domains
        self.policy = policy
        self.hasher = hasher
        self.settings = settings
        self.random = random
    }

    /// - Returns: the domain that the address would be on; `nil` for one of the configuration.
    /// - Throws: ``Refusal/invalidAddress`` for a name that no new mailbox can have, and for a
    ///   domain that could be nobody's; ``Refusal/invalidDomain`` for one that `owner` may not make
    ///   mailboxes on.
    public func place(of address: Address, for owner: User?) async throws -> DomainID? {
        try policy.checkNewName(address.localPart)
        let name = address.domain
        if policy.domains.contains(name) { return nil }
        guard let domain = try await domains.domain(named: name) else {
            guard name.text.utf8.contains(UInt8(ascii: ".")) else { throw Refusal.invalidAddress }
            throw Refusal.invalidDomain
        }
        let mayUse =
            domain.owner == nil
            ? owner != nil || !domain.isProOnly
            : domain.owner == owner?.id && domain.verification == .verified
        guard mayUse else { throw Refusal.invalidDomain }
        return domain.id
    }

    /// - Parameters:
    ///   - domain: as ``place(of:for:)`` gave it.
    ///   - limit: how many accounts the owner may have; nobody counts them when `nil`.
    ///   - event: tells of the account; its time is when it was made.
    /// - Throws: ``Refusal/passwordTooShort``, ``Refusal/addressTaken``,
    ///   ``Refusal/accountLimitReached``, or ``Refusal/invalidDomain`` when the domain was removed
    ///   meanwhile.
    public func add(
        _ address: Address, on domain: DomainID?, secret: MailboxSecret, owner: User?, limit: Int?,
        recording event: @Sendable (AccountID) -> AuditEvent
    ) async throws -> Account {
        try secret.checkLength()
        // Looked at before the hash, which costs more than everything else, and decided after it.
        guard try await accounts.account(address: address) == nil else {
            throw Refusal.addressTaken
        }
        let hash = try await hasher.hash(secret.forHashing(at: address))
        let id = AccountID(random: random(16))
        let event = event(id)
        let account = Account(
            id: id, address: address, credential: .password(hash), owner: owner?.id,
            quota: owner == nil ? settings.freeQuota : settings.proQuota, created: event.time)
        switch try await accounts.insert(account, on: domain, limit: limit, recording: event) {
        case .inserted: return account
        case .limitReached: throw Refusal.accountLimitReached
        case .addressTaken: throw Refusal.addressTaken
        case .domainGone: throw Refusal.invalidDomain
        }
    }
}
