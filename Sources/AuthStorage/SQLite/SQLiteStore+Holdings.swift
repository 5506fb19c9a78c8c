internal import AuthCore

extension SQLiteStore: HoldingStore {
    func accounts(
        of owner: UserID, after cursor: AccountCursor?, limit: Int
    ) async throws -> [Account] {
        // Every account sorts after this creation time and the empty id.
        let created = cursor?.created ?? Instant(milliseconds: .min)
        let id = cursor?.id.text ?? ""
        return try await read {
            try $0.all(
                SQL.ownedAccountPage, .id(owner), .instant(created), .text(id), .limit(limit),
                read: Account.init(row:))
        }
    }

    func holdings(of owner: UserID) async throws -> (accounts: Int, domains: Int) {
        try await read { connection in
            try connection.first(SQL.holdings, .id(owner)) { row in
                (accounts: Int(try row.integer(0)), domains: Int(try row.integer(1)))
            } ?? (accounts: 0, domains: 0)
        }
    }
}

private enum SQL {
    static let ownedAccountPage = Query(
        "ownedAccountPage",
        """
        SELECT \(Account.columns) FROM account
        WHERE owner = ?1 AND (created, id) > (?2, ?3)
        ORDER BY created, id LIMIT ?4
        """)

    static let holdings = Query(
        "holdings",
        """
        SELECT (SELECT count(*) FROM account WHERE owner = ?1),
               (SELECT count(*) FROM domain WHERE owner = ?1)
        """)
}
