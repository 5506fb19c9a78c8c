internal import AuthCore

extension SQLiteStore: AccountDirectory {
    func accounts(after address: Address?, limit: Int) async throws -> [Account] {
        // No address is empty, so every one comes after the empty text.
        let start = address?.description ?? ""
        return try await read {
            try $0.all(SQL.accountPage, .text(start), .limit(limit), read: Account.init(row:))
        }
    }

    func setState(
        of id: AccountID, to state: Account.State, recording event: AuditEvent
    ) async throws -> Bool {
        try await write { database in
            guard try database.run(SQL.setState, .text(state.rawValue), .id(id)) == 1 else {
                // It has the state already, and nothing happened that could be told of.
                return try database.exists(SQL.accountExists, .id(id))
            }
            try database.record(event)
            return true
        }
    }

    func free(_ address: Address, recording event: AuditEvent) async throws -> Bool {
        try await change(recording: event) {
            try $0.run(SQL.freeAddress, .text(address.description)) == 1
        }
    }

    func note(_ reports: [UsageReport]) async throws -> [Bool] {
        try await write { database in
            try reports.map { report in
                try database.run(
                    SQL.noteUsage, .integer(report.used), .text(report.address.description)) == 1
            }
        }
    }
}

extension SQLiteStore: DomainDirectory {
    func domains(after name: Domain?, limit: Int) async throws -> [ListedDomain] {
        // No name is empty.
        let start = name?.text ?? ""
        return try await read { database in
            try database.all(SQL.domainPage, .text(start), .limit(limit)) { row in
                ListedDomain(
                    domain: try HostedDomain(row: row),
                    owner: try row.optionallyParsed(HostedDomain.columnCount, Email.init))
            }
        }
    }
}

private enum SQL {
    static let accountPage = Query(
        "accountPage",
        "SELECT \(Account.columns) FROM account WHERE address > ?1 ORDER BY address LIMIT ?2")

    static let setState = Query(
        "setState",
        """
        UPDATE account
        SET credential_version = credential_version + (?1 = 'disabled'), state = ?1
        WHERE id = ?2 AND state <> ?1
        """)

    static let accountExists = Query(
        "accountExists", "SELECT 1 FROM account WHERE id = ?1")

    static let noteUsage = Query(
        "noteUsage", "UPDATE account SET used = ?1 WHERE address = ?2")

    static let domainPage = Query(
        "domainPage",
        """
        SELECT \(HostedDomain.columns), (SELECT email FROM user WHERE user.id = domain.owner)
        FROM domain WHERE name > ?1 ORDER BY name LIMIT ?2
        """)

    static let freeAddress = Query(
        "freeAddress", "DELETE FROM retired_address WHERE address = ?1")
}
