internal import Cryptography
internal import Networking

/// Requests of mail stores and proxies about the credentials of end users: whether a token or a
/// password is valid, and which mailbox it opens.
///
/// Every answer uses the present state of the account, so a disabled or deleted account is refused
/// at once. Nothing is cached.
public struct MailServices: UseCases {
    public typealias Failure = ServicesError

    /// The mailbox that a credential opens.
    public struct Mailbox: Sendable {
        public let account: Account
        /// The name by which the mail store knows it.
        public let name: String
    }

    /// A token that is valid now (RFC 7662 §2.2).
    public struct Introspection: Sendable {
        public let mailbox: Mailbox
        public let issuer: String
        public let audience: String?
        public let issued: Instant
        public let expiry: Instant
    }

    /// The credential of an end user, as a proxy passes it on.
    public enum EndUserCredential: Sendable {
        /// A capability or an Email JWT.
        case token(String)
        case password(user: String, MailboxSecret)
    }

    /// A client's successful logins are recorded once in this time. Mail clients open many
    /// connections and log in on each, and every record is a write to the disk.
    static let recordInterval: Duration = .seconds(3600)

    private let capabilities: Capabilities
    private let emailTokens: EmailTokens
    private let realm: Realm
    private let accounts: any AccountStore
    private let directory: any AccountDirectory
    private let audit: any AuditLog
    private let passwords: PasswordLogin
    private let policy: AddressPolicy
    private let domains: any DomainStore

    /// - Parameter throttle: shared with the other logins, because they guess at the same accounts.
    public init(
        agents: Agents, tokens: TokenAuthority, stores: Stores, hasher: PasswordHasher,
        throttle: LoginThrottle
    ) {
        capabilities = agents.capabilities
        emailTokens = EmailTokens(tokens: tokens, accounts: stores.accounts)
        realm = tokens.realm
        accounts = stores.accounts
        directory = stores.accountDirectory
        audit = stores.audit
        passwords = PasswordLogin(hasher: hasher, throttle: throttle, audit: stores.audit)
        policy = agents.policy
        domains = stores.domains
    }

    // MARK: Tokens

    /// - Returns: `nil` unless `token` is a capability or an Email JWT that is valid now, of an
    ///   active account that the mail store has a name for.
    public func introspect(
        _ token: String, at now: Instant
    ) async throws(ServicesError) -> Introspection? {
        if let found = try await attempt(await capabilities.read(token, at: now)) {
            guard let mailbox = mailbox(of: found.account) else { return nil }
            return Introspection(
                mailbox: mailbox, issuer: CapabilityToken.issuer(in: realm),
                audience: CapabilityToken.audience(in: realm), issued: found.issued,
                expiry: found.expiry)
        }
        guard let found = try await attempt(await emailTokens.read(token, at: now)),
            let mailbox = mailbox(of: found.account)
        else { return nil }
        return Introspection(
            mailbox: mailbox, issuer: EmailToken.issuer(in: realm),
            audience: EmailToken.audience(in: realm), issued: found.issued, expiry: found.expiry)
    }

    /// The mailbox that a capability or an Email JWT opens.
    /// - Throws: ``ServicesError/missingToken``, ``ServicesError/invalidToken``.
    public func mailbox(
        of token: String?, at now: Instant
    ) async throws(ServicesError) -> Mailbox {
        guard let token else { throw .missingToken }
        guard let found = try await introspect(token, at: now) else { throw .invalidToken }
        return found.mailbox
    }

    // MARK: Passwords

    /// Checks the password of a mailbox, its `auth_key`, or the API key of an agent. Nothing is
    /// issued.
    ///
    /// An unknown address, a wrong password and a wrong API key take the same time and give the
    /// same error. Only callers who know the password learn that an account is disabled.
    /// - Parameters:
    ///   - user: an address or, where these are the names at the mail store, a local part.
    ///   - caller: the end user as the service reports it, by whose address failures are counted.
    /// - Throws: ``ServicesError/invalidCredentials``, ``ServicesError/disabled``,
    ///   ``ServicesError/subjectNotUnique(first:)``, or rate limited after too many failures.
    public func logIn(
        _ user: String, _ secret: MailboxSecret, by caller: Caller
    ) async throws(ServicesError) -> Mailbox {
        guard let address = capabilities.names.address(of: user) else {
            throw .invalidCredentials
        }
        let found = try await attempt(await accounts.account(address: address))
        var hash: PasswordHash?
        var isAPIKey = false
        switch found?.credential {
        case .password(let stored)?: hash = stored
        case .apiKey(let digest)?: isAPIKey = secret.isAPIKey(with: digest)
        case nil: break
        }
        let newer: PasswordHash?
        do throws(AccountsError) {
            newer = try await passwords.check(
                secret.forHashing(at: address), of: .mailbox(address), against: hash,
                isAPIKey: isAPIKey, by: caller)
        } catch {
            throw ServicesError(error)
        }
        guard let account = found, isAPIKey || hash != nil else { throw .invalidCredentials }
        guard account.state == .active else { throw .disabled }
        guard let mailbox = mailbox(of: account) else {
            throw .subjectNotUnique(first: capabilities.names.firstDomain.text)
        }
        if let hash, let newer {
            _ = try await attempt(await accounts.rehash(account.id, from: hash, to: newer))
        }
        try await recordSuccess(of: account, by: caller)
        return mailbox
    }

    private func recordSuccess(
        of account: Account, by caller: Caller
    ) async throws(ServicesError) {
        let name = LoginName.mailbox(account.address)
        let isRecorded = try await attempt(
            await audit.hasLoggedIn(
                name, from: caller.address.client.description,
                since: caller.now.advanced(by: .zero - Self.recordInterval)))
        guard !isRecorded else { return }
        let event = AuditEvent(
            .loginSucceeded, by: caller, actor: .account(account.id), subject: name.subject)
        try await attempt(await audit.append(event))
    }

    // MARK: For proxies

    /// Decides whether a request that a proxy has received may pass.
    /// - Parameter credential: `nil` where the request has none.
    public func authorize(
        _ credential: EndUserCredential?, by caller: Caller
    ) async throws(ServicesError) -> Mailbox {
        switch credential {
        case .token(let token): try await mailbox(of: token, at: caller.now)
        case .password(let user, let secret): try await logIn(user, secret, by: caller)
        case nil: throw .missingToken
        }
    }

    /// A minimal capability for the mailbox. The proxy passes it to the mail store instead of the
    /// end user's credential.
    public func storeToken(
        for mailbox: Mailbox, to caller: Caller
    ) async throws(ServicesError) -> String {
        try await attempt(await capabilities.signMinimal(mailbox.name, to: caller))
    }

    /// The capability with which this server asks the mail store for an account.
    /// - Parameter isMinimal: whether the store accepts only `sub` and `iat`, whatever the
    ///   configured claims are.
    /// - Throws: ``ServicesError/subjectNotUnique(first:)`` where the store could take the account
    ///   for another one.
    public func storeCapability(
        of account: Account, isMinimal: Bool, to caller: Caller
    ) async throws(ServicesError) -> String {
        if isMinimal, let mailbox = mailbox(of: account) {
            return try await storeToken(for: mailbox, to: caller)
        }
        guard let token = try await attempt(await capabilities.sign(for: account, to: caller))
        else { throw .subjectNotUnique(first: policy.agentDomain.text) }
        return token
    }

    // MARK: For mail servers

    /// The name at the mail store of the active account for this address or sub-address. Mail for
    /// the address is delivered to the mailbox of this name, and a client that has logged in with
    /// this name may send from it.
    /// - Returns: `nil` when there is no such account.
    public func name(ofAddress text: String) async throws(ServicesError) -> String? {
        try await account(ofAddress: text).flatMap { mailbox(of: $0)?.name }
    }

    /// The active account for this address or sub-address.
    public func account(ofAddress text: String) async throws(ServicesError) -> Account? {
        for address in [Address(parsing: text), policy.mailbox(ofSubaddress: text)] {
            guard let address,
                let account = try await attempt(await accounts.account(address: address))
            else { continue }
            return account.state == .active ? account : nil
        }
        return nil
    }

    /// Whether mail for the domain belongs here: it is one of the operator's, or verified for a
    /// user. A lapsed domain may still have accounts, but its mail may belong to another server.
    public func receivesMail(for domain: Domain) async throws(ServicesError) -> Bool {
        if policy.domains.contains(domain) { return true }
        return try await attempt(await domains.domain(named: domain)) != nil
    }

    // MARK: Usage

    /// Stores the sizes of mailboxes, as measured by the mail store: all reports or none.
    /// - Parameter usage: the bytes in each mailbox, by its address or by its name at the mail
    ///   store.
    /// - Returns: the names that no account has.
    public func note(
        _ usage: [(name: String, used: Int64)]
    ) async throws(ServicesError) -> [String] {
        var unknown: [String] = []
        var named: [String] = []
        var reports: [UsageReport] = []
        for (name, used) in usage {
            let address = try await attempt(
                await capabilities.names.address(named: name, in: accounts))
            guard let address else {
                unknown.append(name)
                continue
            }
            named.append(name)
            reports.append(UsageReport(address: address, used: used))
        }
        let isKnown = try await attempt(await directory.note(reports))
        return unknown + zip(named, isKnown).filter { !$0.1 }.map(\.0)
    }

    // MARK: Delivered mail

    /// A message that a mail store has delivered.
    public struct Delivered: Sendable {
        /// An address or sub-address, or the name of the mailbox at the mail store.
        public let name: String
        public let mail: ReceivedMail

        public init(name: String, mail: ReceivedMail) {
            self.name = name
            self.mail = mail
        }
    }

    /// Makes the events of users' webhooks for messages that a mail store has delivered: all or
    /// none.
    /// - Returns: the names that no active account has.
    public func noteDelivered(
        _ reports: [Delivered], events: WebhookEvents, at now: Instant
    ) async throws(ServicesError) -> [String] {
        var unknown: [String] = []
        var received: [(mail: ReceivedMail, account: Account)] = []
        for report in reports {
            var account = try await self.account(ofAddress: report.name)
            var mail = report.mail
            if account == nil {
                account = try await attempt(
                    await capabilities.names.account(named: report.name, in: accounts))
                // The name is not an address.
                if let account { mail.address = account.address.description }
            }
            guard let account, account.state == .active else {
                unknown.append(report.name)
                continue
            }
            received.append((mail, account))
        }
        try await attempt(await events.add(received, at: now))
        return unknown
    }

    private func mailbox(of account: Account) -> Mailbox? {
        capabilities.names.name(of: account).map { Mailbox(account: account, name: $0) }
    }
}

extension MailboxSecret {
    /// Whether it is the API key with this digest. An agent's mailbox has no other password.
    fileprivate func isAPIKey(with digest: APIKeyDigest) -> Bool {
        guard case .password(let bytes) = self else { return false }
        return ConstantTime.equal(SHA256.digest(bytes), digest.bytes)
    }
}
