public import Cryptography

/// What a client must solve: a hash function whose digest must begin with zero bits.
public enum Puzzle: Equatable, Sendable {
    /// scrypt(password = `"<jti>:<nonce>"`, salt = the UTF-8 bytes of `salt`). The salt's hex text
    /// is used as it is, never decoded (docs/api.md, "Agent API").
    case scrypt(parameters: Scrypt.Parameters, salt: String)
    /// SHA-256(salt + nonce). The salt is its hex text or the decoded bytes: either reading of the
    /// API's document is accepted, because both cost the same work. Each challenge has a salt of
    /// its own, so its id is not hashed.
    case sha256(salt: String)

    /// One nonce that is tried on the puzzle of one challenge.
    public struct Attempt: Equatable, Sendable {
        public let puzzle: Puzzle
        /// The id of the challenge.
        public let challenge: String
        public let nonce: Nonce

        public init(_ puzzle: Puzzle, challenge: String, nonce: Nonce) {
            self.puzzle = puzzle
            self.challenge = challenge
            self.nonce = nonce
        }

        /// - Returns: `nil` when the puzzle is another one, or has other parameters.
        fileprivate func input(with parameters: Scrypt.Parameters) -> Scrypt.Input? {
            guard case .scrypt(parameters, let salt) = puzzle else { return nil }
            return Scrypt.Input(
                password: Array("\(challenge):\(nonce)".utf8), salt: Array(salt.utf8))
        }
    }

    /// The digest of one attempt, as ``digests(of:kernel:)``.
    public func digest(challenge: String, nonce: Nonce) throws -> [UInt8] {
        let attempt = Attempt(self, challenge: challenge, nonce: nonce)
        return try Self.digests(of: [attempt])[0].get()
    }

    /// The digest of each attempt, in order; if there are two readings, the one with more leading
    /// zeros. An error concerns only its attempt.
    ///
    /// scrypt is slow (7 to 50 ms and 16 MiB with the agents' parameters) and runs on the hashing
    /// pool only. Attempts with the same parameters are computed at once, as many as the kernel has
    /// lanes. SHA-256 is computed at most twice, in a few microseconds.
    public static func digests(
        of attempts: [Attempt], kernel: Scrypt.Kernel = .best
    ) -> [Result<[UInt8], any Error>] {
        var digests = [Result<[UInt8], any Error>?](repeating: nil, count: attempts.count)
        for (index, attempt) in attempts.enumerated() where digests[index] == nil {
            switch attempt.puzzle {
            case .scrypt(let parameters, _):
                let inputs = attempts.map { $0.input(with: parameters) }
                let members = inputs.indices.filter { inputs[$0] != nil }
                let results = Scrypt.hash(
                    inputs.compactMap { $0 }, parameters: parameters, kernel: kernel)
                for (member, result) in zip(members, results) {
                    digests[member] = result.mapError { $0 }
                }
            case .sha256(let salt):
                digests[index] = .success(sha256(salt: salt, nonce: attempt.nonce))
            }
        }
        return digests.compactMap { $0 }
    }

    private static func sha256(salt: String, nonce: Nonce) -> [UInt8] {
        let overText = SHA256.digest(Array(salt.utf8) + Array(nonce.text.utf8))
        guard let decoded = Hex.decode(salt.utf8) else { return overText }
        let overBytes = SHA256.digest(decoded + Array(nonce.text.utf8))
        return leadingZeroBits(overBytes) > leadingZeroBits(overText) ? overBytes : overText
    }
}

/// The value that a client varies to solve a challenge: printable ASCII characters, at least one.
public struct Nonce: Equatable, Sendable, CustomStringConvertible {
    /// The greatest length in the agent API.
    public static let agentBytes = 64
    /// The greatest length in the accounts API.
    public static let accountBytes = 128
    public let text: String

    public init?(_ text: String, atMost bytes: Int = Self.agentBytes) {
        guard !text.isEmpty, text.utf8.count <= bytes,
            text.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
        else { return nil }
        self.text = text
    }

    /// An integer nonce counts as its decimal text.
    public init(_ number: some FixedWidthInteger) {
        text = String(number)
    }

    public var description: String { text }
}

/// The number of zero bits before the first one, most significant bit first.
public func leadingZeroBits(_ bytes: [UInt8]) -> Int {
    var bits = 0
    for byte in bytes {
        bits += byte.leadingZeroBitCount
        if byte != 0 { break }
    }
    return bits
}
