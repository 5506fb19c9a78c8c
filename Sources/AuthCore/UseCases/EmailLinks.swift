/// The links that a Pro user gets by mail: to verify the email, and to set a new password.
public struct EmailLinks: UseCases {
    public typealias Failure = AccountsError

    private let mailer: (any UserMailer)?
    private let users: any UserStore
    private let links: any EmailLinkStore
    private let hasher: PasswordHasher
    private let notices: UserNotices
    private let limiter: RateLimiter
    private let creationInterval: CreationInterval
    private let allowance: MailAllowance
    private let random: @Sendable (Int) -> [UInt8]

    /// Whether links are sent.
    public var areSent: Bool { mailer != nil }

    /// - Parameters:
    ///   - mailer: `nil` where the server sends no mail.
    ///   - random: returns that many random bytes, fit for keys.
    public init(
        mailer: (any UserMailer)?, stores: Stores, hasher: PasswordHasher, notices: UserNotices,
        limiter: RateLimiter, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.mailer = mailer
        users = stores.users
        links = stores.emailLinks
        self.hasher = hasher
        self.notices = notices
        self.limiter = limiter
        creationInterval = CreationInterval(limiter, ledger: stores.challenges)
        allowance = MailAllowance(limiter, ledger: stores.challenges)
        self.random = random
    }

    /// Sends a link with which a new password can be set, if there is a user who may set one.
    ///
    /// The user is looked up after the answer. So neither the answer nor its time or its database
    /// queries show whether there is one. A request costs a token of the creation bucket.
    /// - Throws: ``AccountsError/mailerMissing``, ``AccountsError/invalidEmail`` for a text that
    ///   cannot be an email.
    public func requestReset(of text: String, by caller: Caller) async throws(AccountsError) {
        guard let mailer else { throw .mailerMissing }
        guard let email = Email(parsing: text) else { throw .invalidEmail }
        let reservation = try attemptNow(try limiter.reserve(.creation, for: caller))
        try await attempt(await creationInterval.begin(for: caller))
        let mark = try await attempt(
            await allowance.take(.passwordReset, for: email, by: caller))
        let isTaken = mailer.send(for: caller.address) {
            guard let user = try await users.user(email: email),
                // A user without a password came from an identity provider, which may not have
                // verified the email. Its owner may be somebody else.
                user.password != nil || user.emailVerified != nil
            else { return nil }
            let event = AuditEvent(
                .resetLinkCreated, by: caller, actor: .anonymous, subject: email.text)
            let token = try await Self.make(
                .passwordReset, of: user, in: links, random: random, at: caller.now,
                recording: event)
            return token.map { UserMail(to: user, .passwordReset($0), time: caller.now) }
        }
        guard isTaken else {
            await allowance.giveBack(mark)
            await creationInterval.cancel(for: caller)
            reservation.cancel()
            throw .common(.busy(retryAfter: .seconds(10)))
        }
    }

    /// Sends a link that verifies the user's email.
    /// - Throws: ``AccountsError/mailerMissing``, ``AccountsError/emailVerified``.
    public func requestVerification(
        of user: User, by caller: Caller
    ) async throws(AccountsError) {
        guard let mailer else { throw .mailerMissing }
        guard user.emailVerified == nil else { throw .emailVerified }
        let mark = try await attempt(
            await allowance.take(.emailVerification, for: user.email, by: caller))
        let isTaken = mailer.send(for: caller.address) {
            let token = try await Self.make(
                .emailVerification, of: user, in: links, random: random, at: caller.now,
                recording: nil)
            return token.map { UserMail(to: user, .emailVerification($0), time: caller.now) }
        }
        guard isTaken else {
            await allowance.giveBack(mark)
            throw .common(.busy(retryAfter: .seconds(10)))
        }
    }

    /// Makes a link for the operator, who passes it on. It does not verify the email.
    /// - Returns: `nil` when the user is not active or has other credentials than when it was
    ///   read.
    public static func makeReset(
        of user: User, in links: any EmailLinkStore, random: (Int) -> [UInt8],
        recording event: AuditEvent
    ) async throws -> EmailLinkToken? {
        try await make(
            .operatorReset, of: user, in: links, random: random, at: event.time, recording: event)
    }

    /// Sets a new password and ends every Pro JWT and every other link that sets a password. The
    /// second factor stays, and no session opens.
    ///
    /// Where the link is the first proof that the user has this email, somebody else may have
    /// registered it. So all that this one could come back with ends: passkeys, one-time codes,
    /// identities, the webhook and API tokens.
    /// - Parameters:
    ///   - text: the token of the link.
    ///   - password: bytes as sent, at most 1,024.
    ///   - revokesAPITokens: whether every API token ends, too.
    /// - Throws: ``AccountsError/invalidLink``; ``AccountsError/passwordTooShort`` and
    ///   ``AccountsError/passwordTooCommon``, which do not use the link up.
    public func resetPassword(
        by text: String, to password: [UInt8], revokesAPITokens: Bool, by caller: Caller
    ) async throws(AccountsError) {
        let (link, user) = try await find(text, at: caller.now) { $0.resetsPassword }
        try UserPassword.check(password, of: user.email)
        let event = AuditEvent(
            .credentialReset, by: caller, actor: .user(user.id), subject: user.email.text)
        let hash = try await attempt(await hasher.hash(.bytes(password), for: caller.address))
        let isFirstProof = link.purpose == .passwordReset && user.emailVerified == nil
        let isReset = try await attempt(
            await links.resetPassword(
                by: link.digest, of: user.id, to: hash,
                revokingTokens: revokesAPITokens || isFirstProof,
                removingCredentials: isFirstProof, recording: event))
        guard isReset else { throw .invalidLink }
        notices.notify(user, of: .passwordReset, by: caller)
    }

    /// - Parameter text: the token of the link.
    /// - Throws: ``AccountsError/invalidLink``.
    public func verifyEmail(by text: String, by caller: Caller) async throws(AccountsError) {
        let (link, user) = try await find(text, at: caller.now) { $0 == .emailVerification }
        let event = AuditEvent(
            .emailVerified, by: caller, actor: .user(user.id), subject: user.email.text)
        let isVerified = try await attempt(
            await links.verifyEmail(by: link.digest, of: user.id, recording: event))
        guard isVerified else { throw .invalidLink }
    }

    private func find(
        _ text: String, at now: Instant, for isWanted: (EmailLink.Purpose) -> Bool
    ) async throws(AccountsError) -> (EmailLink, User) {
        guard let token = EmailLinkToken(text),
            let (link, owner) = try await attempt(await links.emailLink(token.digest, at: now)),
            isWanted(link.purpose), owner.state == .active
        else { throw .invalidLink }
        return (link, owner)
    }

    private static func make(
        _ purpose: EmailLink.Purpose, of user: User, in links: any EmailLinkStore,
        random: (Int) -> [UInt8], at now: Instant, recording event: AuditEvent?
    ) async throws -> EmailLinkToken? {
        let token = EmailLinkToken(random: random(EmailLinkToken.randomBytes))
        let link = EmailLink(
            digest: token.digest, owner: user.id, purpose: purpose,
            expiry: now.advanced(by: purpose.lifetime))
        let isInserted = try await links.insert(
            link, at: user.credentialVersion, recording: event)
        return isInserted ? token : nil
    }
}
