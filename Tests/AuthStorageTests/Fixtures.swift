import AuthCore
import Testing

extension Instant {
    static let epoch = Instant(milliseconds: 0)
}

func address(_ text: String) throws -> Address {
    try #require(Address(parsing: text))
}

/// Ids and digests that are different for different numbers.
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
    _ number: Int, _ text: String? = nil, key: Int? = nil, state: Account.State = .active
) throws -> Account {
    Account(
        id: accountID(number), address: try address(text ?? "user\(number)@mail.test"),
        state: state, credential: .apiKey(digest(key ?? number)),
        created: Instant(milliseconds: 1_700_000_000_000 + Int64(number)))
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
/// - Returns: how many said `true`.
func winners(
    of count: Int, _ body: @escaping @Sendable (Int) async throws -> Bool
) async throws -> Int {
    try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
}
