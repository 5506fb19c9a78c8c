internal import Cryptography

/// Whether a secret is the one that a hash was made of.
public enum PasswordVerdict: Equatable, Sendable {
    case matches
    /// It matches, and the hash costs less than is now asked for: here is one that does not.
    case matchesButOutdated(PasswordHash)
    case wrong
}

/// Makes and checks password hashes: Argon2id with a random salt, on the hashing pool.
///
/// One call takes one place in the pool and does everything in one job, so a full pool refuses
/// (``Refusal/busy(retryAfter:)``) before anything is done. A missing account costs what a wrong
/// password costs, to within the accuracy of `spendRest` where the stored hash is cheaper than the
/// settings. What remains: once the operator has lowered the settings, older hashes take longer
/// than a missing account.
public struct PasswordHasher: Sendable {
    /// What the operator sets.
    public struct Settings: Equatable, Sendable {
        public var memoryKiB: Int
        public var iterations: Int
        public var parallelism: Int

        public init(memoryKiB: Int = 19_456, iterations: Int = 2, parallelism: Int = 1) {
            self.memoryKiB = memoryKiB
            self.iterations = iterations
            self.parallelism = parallelism
        }

        var cost: Argon2Hash.Cost {
            .init(memoryKiB: memoryKiB, iterations: iterations, parallelism: parallelism)
        }
    }

    /// A stored hash that is none: a damaged store, never the caller's doing.
    public struct UnreadableHash: Error {}

    private static let saltBytes = 16
    private let cost: Argon2Hash.Cost
    private let workers: any Workers
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: gives so many random bytes, fit for keys.
    public init(
        settings: Settings, workers: any Workers, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        cost = settings.cost
        self.workers = workers
        self.random = random
    }

    public func hash(_ secret: PasswordSecret) async throws -> PasswordHash {
        let salt = random(Self.saltBytes)
        return try await workers.run { [cost] in
            PasswordHash(try Argon2Hash(password: secret.credential(), cost: cost, salt: salt))
        }
    }

    /// - Parameter hash: `nil` when there is no such account; costs the same, and is wrong.
    /// - Throws: ``Refusal/busy(retryAfter:)``, or ``UnreadableHash``.
    public func verify(
        _ secret: PasswordSecret, against hash: PasswordHash?
    ) async throws -> PasswordVerdict {
        let salt = random(Self.saltBytes)
        return try await workers.run { [cost] in
            let credential = try secret.credential()
            guard let hash else {
                _ = try Argon2Hash(password: credential, cost: cost, salt: salt)
                return .wrong
            }
            guard
                let stored = Argon2Hash(encoded: Array(hash.encoded.utf8), within: .computable)
            else { throw UnreadableHash() }
            let isCheap = stored.cost.isBelow(cost)
            guard try stored.isTag(of: credential) else {
                if isCheap { try Self.spendRest(of: cost, after: stored.cost, salt: salt) }
                return .wrong
            }
            guard isCheap else { return .matches }
            return .matchesButOutdated(
                PasswordHash(try Argon2Hash(password: credential, cost: cost, salt: salt)))
        }
    }

    /// What a stored hash of an older setting took less than a missing account is made up, or its
    /// quick answer would tell that the account exists.
    private static func spendRest(
        of cost: Argon2Hash.Cost, after spent: Argon2Hash.Cost, salt: [UInt8]
    ) throws {
        guard let rest = cost.rest(after: spent) else { return }
        _ = try Argon2Hash(password: [], cost: rest, salt: salt)
    }
}

extension PasswordHash {
    init(_ hash: Argon2Hash) {
        self.init(encoded: hash.encoded)
    }
}

extension Argon2Hash.Cost {
    fileprivate func isBelow(_ wanted: Self) -> Bool {
        memoryKiB < wanted.memoryKiB || iterations < wanted.iterations
            || parallelism < wanted.parallelism
    }

    /// What is left of this cost when `spent` has been paid; Argon2 takes time in proportion to
    /// memory times iterations. `nil` when that is less than any hash costs.
    func rest(after spent: Self) -> Self? {
        var rest = self
        rest.memoryKiB -= spent.memoryKiB * spent.iterations / iterations
        return rest.memoryKiB >= 8 * rest.parallelism ? rest : nil
    }
}
