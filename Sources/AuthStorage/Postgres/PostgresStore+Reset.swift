internal import AuthCore

extension PostgresStore: ResettableStore {
    func removeEverything() async throws {
        try await perform(
            PostgresWrite(
                [PostgresStatement(SQL.removeEverything)], repetition: .harmless, read: { _ in }))
    }
}

private enum SQL {
    /// Waits for transactions that use the tables. The numbers of events continue.
    static let removeEverything = Query(
        "removeEverything",
        """
        TRUNCATE webhook, webhook_event, webhook_attempt, api_token, user_session, passkey, totp,
            recovery_code, identity, email_link, account, domain, pro_user, hash_login,
            spent_challenge, account_event, audit
        """)
}
