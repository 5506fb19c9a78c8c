import AuthCore
import Testing

extension Instant {
    static let epoch = Instant(milliseconds: 0)
}

func address(_ text: String) throws -> Address {
    try #require(Address(parsing: text))
}

/// Different numbers give different ids and digests.
func accountID(_ number: Int) -> AccountID {
    AccountID(random: bytes(number, count: 16))
}

func digest(_ number: Int) -> APIKeyDigest {
    APIKeyDigest(bytes: bytes(number, count: 32))
}

private func bytes(_ number: Int, count: Int) -> [UInt8] {
    (0..<count).map { $0 < 4 ? UInt8(truncatingIfNeeded: number >> (8 * $0)) : 0 }
}

func account(
    _ number: Int, _ text: String? = nil, key: Int? = nil, state: Account.State = .active,
    owner: UserID? = nil, created: Int64? = nil
) throws -> Account {
    Account(
        id: accountID(number), address: try address(text ?? "user\(number)@mail.test"),
        state: state, credential: .apiKey(digest(key ?? number)), owner: owner, quota: 1000,
        created: Instant(milliseconds: created ?? 1_700_000_000_000 + Int64(number)))
}

func userID(_ number: Int) -> UserID {
    UserID(random: bytes(number, count: 16))
}

func email(_ text: String) throws -> Email {
    try #require(Email(parsing: text))
}

func hash(_ text: String) -> PasswordHash {
    PasswordHash(encoded: "$argon2id$\(text)")
}

func user(_ number: Int, _ text: String? = nil, state: User.State = .active) throws -> User {
    User(
        id: userID(number), email: try email(text ?? "user\(number)@example.test"), state: state,
        password: hash("\(number)"), created: Instant(milliseconds: 500 + Int64(number)))
}

func sessionID(_ number: Int) -> UserSessionID {
    UserSessionID(random: bytes(number, count: 16))
}

func session(
    _ number: Int, of owner: Int = 1, lastUsed: Int64? = nil, expiry: Int64 = 1000
) -> UserSession {
    let created = Instant(milliseconds: Int64(number))
    return UserSession(
        id: sessionID(number), owner: userID(owner), method: .password, client: "192.0.2.1",
        agent: "browser \(number)", created: created,
        lastUsed: lastUsed.map(Instant.init(milliseconds:)) ?? created,
        expiry: Instant(milliseconds: expiry), authenticated: created)
}

func tokenID(_ number: Int) -> APITokenID {
    APITokenID(random: bytes(number, count: 16))
}

func token(
    _ number: Int, of owner: Int = 1, created: Int64? = nil, revoked: Int64? = nil
) -> APIToken {
    APIToken(
        id: tokenID(number), owner: userID(owner), name: "token \(number)",
        digest: digest(number), created: Instant(milliseconds: created ?? Int64(number)),
        revoked: revoked.map(Instant.init(milliseconds:)))
}

func domainID(_ number: Int) -> DomainID {
    DomainID(random: bytes(number, count: 16))
}

func domainName(_ text: String) throws -> Domain {
    try #require(Domain(parsing: text))
}

func domain(
    _ number: Int, _ name: String? = nil, of owner: Int? = 1, created: Int64? = nil,
    isVerified: Bool = false
) throws -> HostedDomain {
    HostedDomain(
        id: domainID(number), name: try domainName(name ?? "domain\(number).test"),
        owner: owner.map(userID),
        verification: owner == nil || isVerified ? .verified : .pending,
        verifyToken: owner == nil ? "" : "prove \(number)",
        created: Instant(milliseconds: created ?? Int64(number)))
}

func event(
    _ kind: AuditEvent.Kind = .accountCreated, _ subject: String = "any", time: Int64 = 1
) -> AuditEvent {
    AuditEvent(kind, time: Instant(milliseconds: time), actor: .operator, subject: subject)
}

func key(
    _ id: String, _ use: KeyUse = .agent, created: Int64 = 1, retired: Int64? = nil
) -> SealedKey {
    SealedKey(
        id: id, use: use, sealed: Array("sealed \(id)".utf8),
        created: Instant(milliseconds: created),
        retired: retired.map(Instant.init(milliseconds:)))
}

/// Runs `body` for all numbers at once.
/// - Returns: how many returned `true`.
func winners(
    of count: Int, _ body: @escaping @Sendable (Int) async throws -> Bool
) async throws -> Int {
    try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
}
