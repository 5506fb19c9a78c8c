internal import AuthCore

extension SQLiteStore: ResettableStore {
    func removeEverything() async throws {
        try await write { connection in
            for query in SQL.removals { _ = try connection.run(query) }
        }
    }
}

private enum SQL {
    /// Rows that refer to a user are removed before the user.
    static let removals = [
        "webhook", "api_token", "user_session", "passkey", "totp", "recovery_code", "identity",
        "email_link", "account", "retired_address", "domain", "user", "hash_login",
        "spent_challenge", "account_event", "audit",
    ].map { Query("remove \($0)", "DELETE FROM \($0)") }
}
