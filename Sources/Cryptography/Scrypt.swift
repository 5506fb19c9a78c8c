internal import CScrypt

/// The scrypt cost function (RFC 7914), computed by libscrypt.
public enum Scrypt {
    /// The costs of one computation. A value of this type is within bounds, so that a number from a
    /// request or a file cannot demand all memory or minutes of time.
    public struct Parameters: Sendable, Equatable {
        /// The cost N, a power of two.
        public let n: Int
        /// The block size r.
        public let r: Int
        /// The parallelisation p.
        public let p: Int
        /// The length of the digest.
        public let outputBytes: Int

        /// The memory of one computation, 128 N r bytes.
        static let maximumMemoryBytes = 64 << 20
        static let maximumParallelism = 16
        static let maximumOutputBytes = 1024

        public init(n: Int, r: Int, p: Int, outputBytes: Int) throws(CryptographyError) {
            guard n > 1, n & (n - 1) == 0, n <= Self.maximumMemoryBytes else {
                throw .parameterOutOfBounds("scrypt N")
            }
            // RFC 7914 §2: N is less than 2^(128 r / 8). With r of 2 and more the memory is less.
            guard r >= 1, r <= Self.maximumMemoryBytes / 128 / n, r > 1 || n < 1 << 16 else {
                throw .parameterOutOfBounds("scrypt r")
            }
            guard (1...Self.maximumParallelism).contains(p) else {
                throw .parameterOutOfBounds("scrypt p")
            }
            guard (1...Self.maximumOutputBytes).contains(outputBytes) else {
                throw .parameterOutOfBounds("scrypt output length")
            }
            (self.n, self.r, self.p, self.outputBytes) = (n, r, p, outputBytes)
        }
    }

    /// Uses 128 N r bytes of memory and, with 16384/8/1, about 50 ms of one core.
    public static func hash(
        password: [UInt8], salt: [UInt8], parameters: Parameters
    ) throws(CryptographyError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: parameters.outputBytes)
        let status = libscrypt_scrypt(
            password, password.count, salt, salt.count, UInt64(parameters.n),
            UInt32(parameters.r), UInt32(parameters.p), &digest, digest.count)
        guard status == 0 else { throw .libraryFailure(operation: "scrypt", code: 0) }
        return digest
    }
}
