internal import Cryptography

/// The tokens that the mail store accepts: issues them, and finds the mailbox behind one.
struct Capabilities: Sendable {
    /// A token that gives access to one active mailbox, read after the token was verified.
    struct Presented: Sendable {
        let account: Account
        /// `sub`.
        let subject: String
        let issued: Instant
        let expiry: Instant
    }

    let claims: CapabilityClaims
    let lifetime: Duration
    let names: MailNames
    let tokens: TokenAuthority
    let accounts: any AccountStore
    let random: @Sendable (Int) -> [UInt8]

    /// Signs a capability with the configured claims.
    /// - Returns: `nil` where the mail store could take the account for another one.
    func sign(for account: Account, to caller: Caller) async throws -> String? {
        guard let subject = names.name(of: account) else { return nil }
        switch claims {
        case .minimal: return try await signMinimal(subject, to: caller)
        case .full:
            let token = CapabilityToken(
                id: Base64URL.encode(random(16)), subject: subject, account: account)
            return try await tokens.sign(token, lifetime: lifetime, for: caller)
        }
    }

    /// Signs a capability with `sub` and `iat` alone.
    func signMinimal(_ subject: String, to caller: Caller) async throws -> String {
        try await tokens.sign(
            MinimalCapabilityToken(subject: subject), lifetime: lifetime, for: caller)
    }

    /// Verifies a capability, full or minimal, whatever the configured claims are.
    ///
    /// A minimal one names no account. It is valid for the account that has its subject now, unless
    /// that was created later.
    /// - Returns: `nil` unless it is valid now and its account is active.
    func read(_ text: String, at now: Instant) async throws -> Presented? {
        if let full = try await tokens.read(text, as: CapabilityToken.self, at: now),
            let expiry = full.expiry
        {
            guard let account = try await accounts.account(id: full.token.accountID),
                account.state == .active
            else { return nil }
            return Presented(
                account: account, subject: full.token.subject, issued: full.issued, expiry: expiry)
        }
        guard let minimal = try await tokens.read(text, as: MinimalCapabilityToken.self, at: now)
        else { return nil }
        let expiry = minimal.issued.advanced(by: lifetime)
        guard now < expiry,
            let account = try await names.account(named: minimal.token.subject, in: accounts),
            account.state == .active, account.created.seconds <= minimal.issued.seconds
        else { return nil }
        return Presented(
            account: account, subject: minimal.token.subject, issued: minimal.issued,
            expiry: expiry)
    }
}
