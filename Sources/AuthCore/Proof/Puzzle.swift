public import Cryptography

/// A proof of work: what a client must find, and how it is checked.
public enum Puzzle: Equatable, Sendable {
    /// scrypt(password = `"<jti>:<nonce>"`, salt = the UTF-8 bytes of `salt`) has leading zeros.
    /// Contract section 1; the salt is used as the text it is, never decoded.
    case scrypt(parameters: Scrypt.Parameters, salt: String)
    /// SHA-256(salt + nonce) has leading zeros, the salt being its hex text or the bytes that
    /// this text stands for: contract section 2 accepts either reading. The salt is the
    /// challenge's own, so its id is not hashed.
    case sha256(salt: String)

    /// The digest of one attempt; where there are two readings, the one with more leading zeros.
    ///
    /// scrypt is slow (about 50 ms and 16 MiB for the agents' parameters) and runs on the hashing
    /// pool only; SHA-256 is computed twice at most, in some microseconds.
    public func digest(challenge: String, nonce: Nonce) throws -> [UInt8] {
        switch self {
        case .scrypt(let parameters, let salt):
            return try Scrypt.hash(
                password: Array("\(challenge):\(nonce)".utf8), salt: Array(salt.utf8),
                parameters: parameters)
        case .sha256(let salt):
            let overText = SHA256.digest(Array(salt.utf8) + Array(nonce.text.utf8))
            guard let decoded = Hex.decode(salt.utf8) else { return overText }
            let overBytes = SHA256.digest(decoded + Array(nonce.text.utf8))
            return leadingZeroBits(overBytes) > leadingZeroBits(overText) ? overBytes : overText
        }
    }
}

/// What a client varied to find its proof: printable ASCII characters, at least one.
public struct Nonce: Equatable, Sendable, CustomStringConvertible {
    /// The longest that the agents' challenge takes.
    public static let agentOctets = 64
    /// The longest that the accounts' challenge takes.
    public static let accountOctets = 128
    public let text: String

    public init?(_ text: String, atMost octets: Int = Self.agentOctets) {
        guard !text.isEmpty, text.utf8.count <= octets,
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

/// A claimed solution: the nonce and the digest that it is said to give.
public struct Proof: Equatable, Sendable {
    public let nonce: Nonce
    public let digest: [UInt8]

    public init(nonce: Nonce, digest: [UInt8]) {
        self.nonce = nonce
        self.digest = digest
    }
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
