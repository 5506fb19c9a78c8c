internal import AuthCore

/// Inserts the accounts of several callers in one transaction. This costs less than half of
/// separate transactions.
///
/// Guarantees: A single account does not wait for others. Each account is inserted under the same
/// locks and checks as in its own transaction. If there is any conflict, or if the transaction
/// fails, nothing is decided here: the caller then inserts the account alone. The batch does not
/// wait for rows that are locked by others, so that they delay no other account.
struct AccountBatches: Sendable {
    /// The outcome for one account.
    enum Outcome: Equatable, Sendable {
        case inserted
        /// It has to be inserted alone.
        /// - Parameter isUncertain: whether it may have been inserted, or still be.
        case undecided(isUncertain: Bool)
    }

    private let batcher: Batcher<AccountCreation, Outcome>

    init(_ pool: PostgresPool) {
        // With one transaction at a time a batch is largest, and it never waits for locks of its
        // own node. It inserts accounts as fast as a few cores can create them.
        batcher = Batcher(pool, trips: 1, limit: 64) { await Self.outcomes(of: $0, $1) }
    }

    var statistics: StoreStatistics.Batches { batcher.statistics(as: "accounts") }

    /// How many accounts wait for their transaction to begin.
    var waiting: Int { batcher.waiting }

    /// - Throws: `StoreBusy` when the queue is full or the account has waited too long; then
    ///   nothing was sent.
    func insert(_ creation: AccountCreation) async throws -> Outcome {
        try await batcher.output(of: creation)
    }

    private static func outcomes(
        of batch: [AccountCreation], _ connection: isolated PostgresConnection
    ) async -> [Outcome] {
        let domains = batch.compactMap(\.domain)
        let owners = batch.compactMap(\.account.owner)
        let locks = [
            PostgresStatement(SQL.beginBatch),
            domains.isEmpty ? nil : PostgresStatement(SQL.lockDomains, .ids(domains)),
            PostgresStatement(SQL.lockOwners, .ids(owners)),
        ].compactMap(\.self)
        do {
            return try await connection.run(locks + [insertion(of: batch)]) { results in
                let outcomes = try results[locks.count].all { row in
                    try row.bool(0) ? Outcome.inserted : .undecided(isUncertain: false)
                }
                guard outcomes.count == batch.count else {
                    throw StorageError.unreadable(column: SQL.insertAccounts.name)
                }
                return outcomes
            }
        } catch {
            return batch.map { _ in .undecided(isUncertain: isUncertain(after: error)) }
        }
    }

    private static func isUncertain(after error: any Error) -> Bool {
        switch error {
        case PostgresFailure.rejected, PostgresFailure.lost(wasSent: false, _), is NoConnection,
            StorageError.closed:
            false
        default: true
        }
    }

    private static func insertion(of batch: [AccountCreation]) -> PostgresStatement {
        let rows = batch.map { $0.values + $0.event.values($0.writeID) }
        return PostgresStatement(
            SQL.insertAccounts,
            SQL.columns.indices.map { column in
                .array(SQL.columns[column].type, rows.map { $0[column] })
            })
    }
}

extension PostgresValue {
    fileprivate static func ids<Kind>(_ ids: [Identifier<Kind>]) -> PostgresValue {
        .array(.uuid, ids.map { .id($0) })
    }
}

private enum SQL {
    /// The columns of `given`: the values of ``AccountCreation`` and of its event.
    static let columns: [(name: String, type: PostgresType)] = [
        ("id", .uuid), ("address", .text), ("state", .text), ("api_key_digest", .bytea),
        ("credential_version", .bigint), ("created", .timestamptz), ("password_hash", .text),
        ("owner", .uuid), ("quota", .bigint), ("used", .bigint), ("domain_id", .uuid),
        ("bound", .bigint), ("past", .timestamptz), ("kind", .text), ("time", .timestamptz),
        ("actor", .text), ("subject", .text), ("client", .text), ("request_id", .text),
        ("network", .text), ("write_id", .uuid),
    ]

    /// Other transactions wait only for accounts with the same address, and not for long. The
    /// statements are planned once, with indexes, because the tables may grow much larger.
    static let beginBatch = Query(
        "beginBatch",
        """
        SELECT set_config('lock_timeout', '100', true), set_config('enable_seqscan', 'off', true),
               set_config('plan_cache_mode', 'force_generic_plan', true)
        """)

    /// Sets `postern.domains` to the domains that it has locked.
    static let lockDomains = Query(
        "lockDomains",
        """
        SELECT set_config('postern.domains', coalesce(array_agg(id)::text, '{}'), true)
        FROM (
            SELECT id FROM domain WHERE id = ANY ($1) AND verification = 'verified'
            ORDER BY id FOR SHARE SKIP LOCKED
        ) AS locked
        """)

    /// Sets `postern.owners` to the users that it has locked.
    static let lockOwners = Query(
        "lockOwners",
        """
        SELECT set_config('postern.owners', coalesce(array_agg(id)::text, '{}'), true)
        FROM (
            SELECT id FROM pro_user WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
        ) AS locked
        """)

    /// Inserts an account if its domain and its owner are locked. The owner must have fewer than
    /// `bound` accounts, including those before it in the batch, and must have lately deleted fewer
    /// than `bound`. That is stricter than the limit, which is decided when an account is inserted
    /// alone. Accounts are inserted in the order of their addresses, so that two transactions do
    /// not wait for each other.
    static let insertAccounts = Query(
        "insertAccounts",
        """
        WITH given AS MATERIALIZED (
            SELECT *, row_number() OVER (PARTITION BY owner ORDER BY place) AS number
            FROM unnest(\(parameters))
            WITH ORDINALITY AS given (\(columns.map(\.name).joined(separator: ", ")), place)
        ),
        locked_owner AS MATERIALIZED (
            SELECT id AS owner, accounts FROM pro_user
            WHERE id = ANY (nullif(current_setting('postern.owners', true), '')::uuid[])
        ),
        changed AS (
            INSERT INTO account (\(Account.columns))
            SELECT \(Account.columns)
            FROM given LEFT JOIN locked_owner USING (owner)
            WHERE (owner IS NULL OR accounts IS NOT NULL)
                AND (bound IS NULL OR (accounts + number <= bound AND bound > (
                    SELECT count(*) FROM (
                        SELECT 1 FROM account
                        WHERE account.owner = given.owner AND account.state = 'deleted'
                            AND deleted > past
                        LIMIT bound
                    ) AS retired
                )))
                AND (domain_id IS NULL OR domain_id = ANY (
                    nullif(current_setting('postern.domains', true), '')::uuid[]
                ))
            ORDER BY address
            ON CONFLICT DO NOTHING RETURNING id, address, quota
        ),
        recorded AS (
            INSERT INTO audit (\(Query.recordedColumns))
            SELECT \(Query.recordedColumns)
            FROM given WHERE id IN (SELECT id FROM changed) ORDER BY place
        ),
        fed AS (
            INSERT INTO account_event (id, kind, time, account, address, quota)
            SELECT write_id, kind, time, id, address, quota
            FROM given WHERE id IN (SELECT id FROM changed) ORDER BY place
        )
        SELECT id IN (SELECT id FROM changed) FROM given ORDER BY place
        """)

    private static let parameters = columns.enumerated().map { index, column in
        "$\(index + 1)::\(column.type)[]"
    }.joined(separator: ", ")
}
