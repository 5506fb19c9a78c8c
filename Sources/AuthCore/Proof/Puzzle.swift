public import Cryptography

/// A proof of work: what a client must find, and how it is checked.
public enum Puzzle: Equatable, Sendable {
    /// scrypt(password = `"<jti>:<nonce>"`, salt = the UTF-8 bytes of `salt`) has leading zeros.
    /// Contract section 1; the salt is used as the text it is, never decoded.
    case scrypt(parameters: Scrypt.Parameters, salt: String)

    /// The digest of one attempt.
    ///
    /// Slow (about 50 ms and 16 MiB for the agents' parameters): runs on the hashing pool only.
    public func digest(challenge: String, nonce: Nonce) throws -> [UInt8] {
        switch self {
        case .scrypt(let parameters, let salt):
            try Scrypt.hash(
                password: Array("\(challenge):\(nonce)".utf8), salt: Array(salt.utf8),
                parameters: parameters)
        }
    }
}

/// What a client varied to find its proof: 1 to 64 printable ASCII characters.
public struct Nonce: Equatable, Sendable, CustomStringConvertible {
    public static let maximumOctets = 64
    public let text: String

    public init?(_ text: String) {
        guard (1...Self.maximumOctets).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7e).contains($0) })
        else { return nil }
        self.text = text
    }

    /// An integer nonce counts as its decimal text.
    public init(_ number: Int64) {
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
