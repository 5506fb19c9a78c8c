internal import AuthCore

extension PostgresStore: HoldingStore {
    func accounts(
        of owner: UserID, after cursor: AccountCursor?, limit: Int
    ) async throws -> [Account] {
        guard let cursor else {
            return try await all(SQL.firstOwnedAccounts, .id(owner), .limit(limit)) {
                try Account(row: $0)
            }
        }
        return try await all(
            SQL.ownedAccountPage, .id(owner), .instant(cursor.created), .id(cursor.id),
            .limit(limit)
        ) { try Account(row: $0) }
    }

    func holdings(of owner: UserID) async throws -> (accounts: Int, domains: Int) {
        try await first(SQL.holdings, .id(owner)) { row in
            (accounts: Int(try row.integer(0)), domains: Int(try row.integer(1)))
        } ?? (accounts: 0, domains: 0)
    }
}

private enum SQL {
    static let firstOwnedAccounts = Query(
        "firstOwnedAccounts",
        """
        SELECT \(Account.columns) FROM account WHERE owner = $1 AND state <> 'deleted'
        ORDER BY created, id LIMIT $2
        """)

    static let ownedAccountPage = Query(
        "ownedAccountPage",
        """
        SELECT \(Account.columns) FROM account
        WHERE owner = $1 AND state <> 'deleted' AND (created, id) > ($2, $3)
        ORDER BY created, id LIMIT $4
        """)

    static let holdings = Query(
        "holdings",
        """
        SELECT coalesce((SELECT accounts FROM pro_user WHERE id = $1), 0),
               (SELECT count(*) FROM domain WHERE owner = $1)
        """)
}
