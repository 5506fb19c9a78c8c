/// Reads Email JWTs, and the account that each gives access to.
struct EmailTokens: Sendable {
    /// A token that is valid now, and its account, which is active.
    struct Presented: Sendable {
        let account: Account
        /// `jti`.
        let id: String
        let issued: Instant
        let expiry: Instant
    }

    let tokens: TokenAuthority
    let accounts: any AccountStore

    /// - Returns: `nil` also when the token was ended, or the account is deleted, disabled or has
    ///   got a new password since.
    func read(_ text: String, at now: Instant) async throws -> Presented? {
        guard let found = try await tokens.read(text, as: EmailToken.self, at: now),
            let expiry = found.expiry,
            let account = try await accounts.account(
                id: found.token.accountID, unlessEnded: found.token.id),
            account.state == .active,
            account.credentialVersion == found.token.credentialVersion
        else { return nil }
        return Presented(
            account: account, id: found.token.id, issued: found.issued, expiry: expiry)
    }
}
