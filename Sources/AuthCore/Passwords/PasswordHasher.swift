public import Cryptography
public import Networking
public import Scheduling

/// Whether a secret is the one that a hash was computed from.
public enum PasswordVerdict: Equatable, Sendable {
    case matches
    /// It matches, but the hash was computed with cheaper settings. The value is a new hash of the
    /// same secret, computed with the current settings.
    case matchesButOutdated(PasswordHash)
    case wrong
}

/// Computes and verifies password hashes: Argon2id with a random salt, on the hashing pool.
///
/// Each call is one job on the pool, for the client that asked for it, or for the operator if there
/// is none. When the pool has no place for it, the call throws before any work is done.
///
/// A missing account takes the same time as a wrong password. When the stored hash was computed
/// with cheaper settings, the difference is computed as well. One difference in time remains: after
/// the operator has lowered the settings, older hashes take longer than a missing account.
public struct PasswordHasher: Sendable {
    /// The operator's settings.
    public struct Settings: Equatable, Sendable {
        public var memoryKiB: Int
        public var iterations: Int
        public var parallelism: Int
        /// How Argon2 is computed.
        public var kernel: Argon2.Kernel

        public init(
            memoryKiB: Int = 19_456, iterations: Int = 2, parallelism: Int = 1,
            kernel: Argon2.Kernel = .best
        ) {
            self.memoryKiB = memoryKiB
            self.iterations = iterations
            self.parallelism = parallelism
            self.kernel = kernel
        }

        var cost: Argon2Hash.Cost {
            .init(memoryKiB: memoryKiB, iterations: iterations, parallelism: parallelism)
        }
    }

    /// A stored hash that cannot be read: the store is damaged.
    public struct UnreadableHash: Error {}

    private static let saltBytes = 16
    private let cost: Argon2Hash.Cost
    private let kernel: Argon2.Kernel
    private let pool: WorkerPool
    private let random: @Sendable (Int) -> [UInt8]

    /// - Parameter random: returns that many random bytes, fit for keys.
    public init(
        settings: Settings, pool: WorkerPool, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        cost = settings.cost
        kernel = settings.kernel
        self.pool = pool
        self.random = random
    }

    public func hash(
        _ secret: PasswordSecret, for client: IPAddress?
    ) async throws -> PasswordHash {
        let salt = random(Self.saltBytes)
        return try await pool.run(for: client) {
            try hash(secret.credential(kernel), salt: salt)
        }
    }

    /// - Parameter hash: `nil` when there is no such account. The result is then `.wrong`, after
    ///   the same time.
    /// - Throws: ``Scheduling/WorkerPool/Full``, or ``UnreadableHash``.
    public func verify(
        _ secret: PasswordSecret, against hash: PasswordHash?, for client: IPAddress?
    ) async throws -> PasswordVerdict {
        let salt = random(Self.saltBytes)
        return try await pool.run(for: client) {
            let credential = try secret.credential(kernel)
            guard let hash else {
                _ = try self.hash(credential, salt: salt)
                return .wrong
            }
            guard
                let stored = Argon2Hash(encoded: Array(hash.encoded.utf8), within: .computable)
            else { throw UnreadableHash() }
            let isCheap = stored.cost.isBelow(cost)
            guard try stored.isTag(of: credential, kernel: kernel) else {
                if isCheap { try spendRest(after: stored.cost, salt: salt) }
                return .wrong
            }
            guard isCheap else { return .matches }
            return .matchesButOutdated(try self.hash(credential, salt: salt))
        }
    }

    private func hash(_ credential: [UInt8], salt: [UInt8]) throws -> PasswordHash {
        PasswordHash(
            try Argon2Hash(password: credential, cost: cost, salt: salt, kernel: kernel))
    }

    /// Computes the difference between the cost of the settings and that of a cheaper stored hash.
    /// Otherwise the faster response would show that the account exists.
    private func spendRest(after spent: Argon2Hash.Cost, salt: [UInt8]) throws {
        guard let rest = cost.rest(after: spent) else { return }
        _ = try Argon2Hash(password: [], cost: rest, salt: salt, kernel: kernel)
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

    /// The cost that remains after a hash of cost `spent`. Argon2 takes time in proportion to
    /// memory times iterations. `nil` when the rest is smaller than the smallest possible cost.
    func rest(after spent: Self) -> Self? {
        var rest = self
        rest.memoryKiB -= spent.memoryKiB * spent.iterations / iterations
        return rest.memoryKiB >= 8 * rest.parallelism ? rest : nil
    }
}
