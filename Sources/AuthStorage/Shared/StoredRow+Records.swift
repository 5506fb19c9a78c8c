internal import AuthCore

// How each kind of row is read, for all engines. `columns` has the names for a query, in the order
// in which `init(row:)` reads them.

extension Account {
    static let columns = """
        id, address, state, api_key_digest, credential_version, created, password_hash, owner, \
        quota, used
        """

    init(row: some StoredRow) throws {
        let credential: Credential =
            if let encoded = try row.optionalText(6) {
                .password(PasswordHash(encoded: encoded))
            } else {
                .apiKey(try row.digest(3))
            }
        self.init(
            id: try row.id(0), address: try row.parsed(1, Address.init),
            state: try row.parsed(2, State.init), credential: credential,
            credentialVersion: try row.integer(4), owner: try row.optionalID(7),
            quota: try row.integer(8), used: try row.integer(9), created: try row.instant(5))
    }
}

extension User {
    static let columns =
        "id, email, state, password_hash, credential_version, created, email_verified"

    init(row: some StoredRow) throws {
        try self.init(row: row, from: 0)
    }

    /// - Parameter column: the first one of the user's.
    init(row: some StoredRow, from column: Int32) throws {
        self.init(
            id: try row.id(column), email: try row.parsed(column + 1, Email.init),
            state: try row.parsed(column + 2, State.init),
            password: try row.optionalText(column + 3).map(PasswordHash.init(encoded:)),
            credentialVersion: try row.integer(column + 4), created: try row.instant(column + 5),
            emailVerified: try row.optionalInstant(column + 6))
    }
}

extension UserSession {
    static let columns =
        "id, owner, created, last_used, expiry, authenticated, method, client, agent"
    static let columnCount: Int32 = 9

    /// - Parameter row: begins with ``columns``.
    init(row: some StoredRow) throws {
        self.init(
            id: try row.id(0), owner: try row.id(1), method: try row.parsed(6, Method.init),
            client: try row.text(7), agent: try row.text(8), created: try row.instant(2),
            lastUsed: try row.instant(3), expiry: try row.instant(4),
            authenticated: try row.instant(5))
    }
}

extension APIToken {
    static let columns = "id, owner, name, digest, created, expiry, last_used, revoked, scopes"
    static let columnCount: Int32 = 9

    /// How many of an owner's ended tokens are kept, and how many of the revoked ones are listed.
    static let endedKept = 100

    init(row: some StoredRow) throws {
        self.init(
            id: try row.id(0), owner: try row.id(1), name: try row.text(2),
            digest: try row.digest(3), scopes: try row.parsed(8, Self.scopes),
            created: try row.instant(4), expiry: try row.optionalInstant(5),
            lastUsed: try row.optionalInstant(6), revoked: try row.optionalInstant(7))
    }

    /// The names of the scopes with spaces between them.
    var storedScopes: String { scopes.map(\.rawValue).sorted().joined(separator: " ") }

    private static func scopes(_ text: String) -> Set<Scope>? {
        let names = text.split(separator: " ")
        let scopes = names.compactMap { Scope(rawValue: String($0)) }
        return scopes.count == names.count ? Set(scopes) : nil
    }
}

extension Passkey {
    static let columns =
        "id, owner, name, credential, public_key, signature_count, is_synced, created, last_used"
    static let columnCount: Int32 = 9

    /// - Parameter row: begins with ``columns``.
    init(row: some StoredRow) throws {
        self.init(
            id: try row.id(0), owner: try row.id(1), name: try row.text(2),
            credential: try row.blob(3), publicKey: try row.text(4),
            signatureCount: try row.integer(5), isSynced: try row.bool(6),
            created: try row.instant(7), lastUsed: try row.optionalInstant(8))
    }
}

extension Identity {
    static let columns = "id, owner, provider, issuer, subject, email, created, last_used"
    static let columnCount: Int32 = 8

    /// - Parameter row: begins with ``columns``.
    init(row: some StoredRow) throws {
        self.init(
            id: try row.id(0), owner: try row.id(1), provider: try row.text(2),
            issuer: try row.text(3), subject: try row.text(4), email: try row.optionalText(5),
            created: try row.instant(6), lastUsed: try row.optionalInstant(7))
    }
}

extension StoredTOTP {
    static let columns = "owner, secret, last_step, created"

    /// - Parameter row: begins with ``columns``.
    init(row: some StoredRow) throws {
        self.init(
            owner: try row.id(0), sealedSecret: try row.blob(1), lastStep: try row.integer(2),
            created: try row.instant(3))
    }
}

extension EmailLink {
    static let columns = "digest, owner, purpose, expiry"
    static let columnCount: Int32 = 4

    /// - Parameter row: begins with ``columns``.
    init(row: some StoredRow) throws {
        self.init(
            digest: try row.digest(0), owner: try row.id(1),
            purpose: try row.parsed(2, Purpose.init), expiry: try row.instant(3))
    }
}

extension SealedSecret {
    /// The name and the encrypted form of every secret.
    static let selection = """
        SELECT 'webhook/' || id, secret FROM webhook
        UNION ALL SELECT 'totp/' || owner, secret FROM totp
        """
}

extension Factors {
    init(row: some StoredRow) throws {
        self.init(
            totpCreated: try row.optionalInstant(0), recoveryCodes: Int(try row.integer(1)),
            passkeys: Int(try row.integer(2)))
    }
}

extension HostedDomain {
    static let columns =
        "id, name, owner, pro_only, verification, verify_token, verified, has_mx, created"
    static let columnCount: Int32 = 9

    /// - Parameter row: begins with ``columns``.
    init(row: some StoredRow) throws {
        self.init(
            id: try row.id(0), name: try row.parsed(1, Domain.init),
            owner: try row.optionalID(2), isProOnly: try row.bool(3),
            verification: try row.parsed(4, Verification.init), verifyToken: try row.text(5),
            verified: try row.optionalInstant(6), hasMX: try row.bool(7),
            created: try row.instant(8))
    }
}

extension ListedDomain {
    /// - Parameter row: a domain's columns and the email of its owner.
    init(row: some StoredRow) throws {
        self.init(
            domain: try HostedDomain(row: row),
            owner: try row.optionallyParsed(HostedDomain.columnCount, Email.init))
    }
}

extension HashLogin {
    static let columns = "email, url, credential_version, created"

    init(row: some StoredRow) throws {
        self.init(
            email: try row.parsed(0, Email.init), url: HashURL(text: try row.text(1)),
            credentialVersion: try row.integer(2), created: try row.instant(3))
    }
}

extension SealedKey {
    static let columns = "id, use, sealed, created, retired"

    /// - Returns: `nil` for an unknown use.
    static func read(_ row: some StoredRow) throws -> SealedKey? {
        guard let use = KeyUse(rawValue: try row.text(1)) else { return nil }
        return SealedKey(
            id: try row.text(0), use: use, sealed: try row.blob(2),
            created: try row.instant(3), retired: try row.optionalInstant(4))
    }

    /// The order in which ``SigningKeyStore/keys()`` lists: by use, newest first, the signing one
    /// before a retired one of the same millisecond.
    static func isListedBefore(_ left: SealedKey, _ right: SealedKey) -> Bool {
        if left.use != right.use { return left.use.rawValue < right.use.rawValue }
        if left.created != right.created { return left.created > right.created }
        if (left.retired == nil) != (right.retired == nil) { return left.retired == nil }
        return left.id < right.id
    }
}

extension AuditRecord {
    static let columns = "sequence, kind, time, actor, subject, client, request_id, count"
    static let columnCount: Int32 = 8

    /// - Parameter row: begins with ``columns``.
    init(row: some StoredRow) throws {
        self.init(
            sequence: try row.integer(0),
            event: AuditEvent(
                try row.parsed(1, AuditEvent.Kind.init), time: try row.instant(2),
                actor: try row.parsed(3, { AuditEvent.Actor($0) }), subject: try row.text(4),
                client: try row.text(5), requestID: try row.text(6)),
            count: try row.integer(7))
    }
}

extension AccountEvent {
    static let columns = "number, id, kind, time, account, address, quota"
    static let columnCount: Int32 = 7

    /// - Parameter row: begins with ``columns``.
    init(row: some StoredRow) throws {
        self.init(
            number: try row.integer(0), id: try row.id(1),
            kind: try row.parsed(2, AuditEvent.Kind.init), time: try row.instant(3),
            account: try row.id(4), address: try row.parsed(5, Address.init),
            quota: row.isNull(6) ? nil : try row.integer(6))
    }
}

extension PendingEvent {
    static let columns = "\(AccountEvent.columns), attempts, due"

    init(row: some StoredRow) throws {
        self.init(
            event: try AccountEvent(row: row),
            attempts: try row.integer(AccountEvent.columnCount),
            due: try row.instant(AccountEvent.columnCount + 1))
    }
}

extension Webhook {
    static let columns =
        "id, owner, url, events, secret, status, failures, last_triggered, created"

    init(row: some StoredRow) throws {
        self.init(
            id: try row.id(0), owner: try row.id(1), url: try row.text(2),
            events: try row.parsed(3, Self.events), sealedSecret: try row.blob(4),
            status: try row.parsed(5, Status.init), failures: try row.integer(6),
            lastTriggered: try row.optionalInstant(7), created: try row.instant(8))
    }

    /// The names of the kinds with spaces between them.
    var storedEvents: String { events.map(\.rawValue).sorted().joined(separator: " ") }

    private static func events(_ text: String) -> Set<EventKind>? {
        let names = text.split(separator: " ")
        let kinds = names.compactMap { EventKind(rawValue: String($0)) }
        return kinds.count == names.count ? Set(kinds) : nil
    }
}

extension PendingWebhookEvent {
    /// Of an event as `event`, and of its webhook as `webhook`.
    static let columns = """
        event.number, event.id, event.kind, event.body, event.created, event.attempts, \
        webhook.id, webhook.owner, webhook.url, webhook.secret, webhook.is_slow
        """

    init(row: some StoredRow) throws {
        self.init(
            number: try row.integer(0),
            event: WebhookEvent(
                id: try row.text(1), kind: try row.parsed(2, Webhook.EventKind.init),
                body: try row.blob(3), created: try row.instant(4)),
            attempts: try row.integer(5), webhook: try row.id(6), owner: try row.id(7),
            url: try row.text(8), sealedSecret: try row.blob(9), isSlow: try row.bool(10))
    }
}

extension WebhookAttempt {
    static let columns = "id, event, kind, status, error, attempt, duration, time"

    init(row: some StoredRow) throws {
        self.init(
            id: try row.id(0), eventID: try row.text(1),
            kind: try row.parsed(2, Webhook.EventKind.init),
            status: row.isNull(3) ? nil : try row.integer(3), error: try row.optionalText(4),
            number: try row.integer(5), milliseconds: try row.integer(6), time: try row.instant(7))
    }
}

extension StoredRow {
    /// The first of two domain names that differs from this one.
    func domain(otherThan domain: Domain) throws -> Domain? {
        try [
            optionallyParsed(0, Domain.init(parsing:)), optionallyParsed(1, Domain.init(parsing:)),
        ]
        .compactMap { $0 }.first { $0 != domain }
    }
}

extension String {
    /// Names of columns with the name of their table: "id, email" as "user.id, user.email".
    func columns(of table: String) -> String {
        split(separator: ", ").map { "\(table).\($0)" }.joined(separator: ", ")
    }
}
