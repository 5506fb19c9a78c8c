internal import Cryptography

/// The hash in what a URL served: after trimming SP, TAB, CR and LF exactly one encoded Argon2
/// string within the operator's bounds (contract section 3).
struct ServedHash: Sendable {
    private let hash: Argon2Hash

    /// - Returns: `nil` for anything else. No work is done before the bounds are checked.
    init?(_ body: [UInt8], within bounds: Argon2Hash.Bounds) {
        let white: Set<UInt8> = [0x20, 0x09, 0x0d, 0x0a]
        let start = body.firstIndex { !white.contains($0) } ?? body.endIndex
        let end = body.lastIndex { !white.contains($0) }.map { $0 + 1 } ?? start
        guard let hash = Argon2Hash(encoded: Array(body[start..<end]), within: bounds) else {
            return nil
        }
        self.hash = hash
    }

    /// Whether `password` is what the hash was made of. Slow: runs on the hashing pool only.
    func matches(_ password: [UInt8]) throws -> Bool {
        try hash.isTag(of: password)
    }
}
