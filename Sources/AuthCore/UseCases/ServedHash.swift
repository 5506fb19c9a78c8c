internal import Cryptography

/// The hash that a URL served: after trimming SP, TAB, CR and LF, exactly one encoded Argon2 string
/// within the operator's bounds (docs/api.md, "Hash-login API").
struct ServedHash: Sendable {
    private let hash: Argon2Hash

    /// - Returns: `nil` for any other body. Computes no hash.
    init?(_ body: [UInt8], within bounds: Argon2Hash.Bounds) {
        let white: Set<UInt8> = [0x20, 0x09, 0x0d, 0x0a]
        let start = body.firstIndex { !white.contains($0) } ?? body.endIndex
        let end = body.lastIndex { !white.contains($0) }.map { $0 + 1 } ?? start
        guard let hash = Argon2Hash(encoded: Array(body[start..<end]), within: bounds) else {
            return nil
        }
        self.hash = hash
    }

    /// Whether the hash is that of `password`. Slow, so it runs on the hashing pool only.
    func matches(_ password: [UInt8], kernel: Argon2.Kernel) throws -> Bool {
        try hash.isTag(of: password, kernel: kernel)
    }
}
