internal import COpenSSL
internal import CScrypt
internal import CScryptLanes

/// The scrypt cost function (RFC 7914), computed by a ``Kernel``.
public enum Scrypt {
    /// The costs of one computation. A value of this type is within limits, so that a number from a
    /// request or a file cannot use all memory or take minutes.
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

    /// The input of one hash.
    public struct Input: Sendable, Equatable {
        public let password: [UInt8]
        public let salt: [UInt8]

        public init(password: [UInt8], salt: [UInt8]) {
            self.password = password
            self.salt = salt
        }
    }

    /// One hash. Uses 128 N r bytes of memory and, with 16384/8/1, 15 to 50 ms of one core.
    public static func hash(
        password: [UInt8], salt: [UInt8], parameters: Parameters, kernel: Kernel = .best
    ) throws(CryptographyError) -> [UInt8] {
        let input = Input(password: password, salt: salt)
        return try hash([input], parameters: parameters, kernel: kernel)[0].get()
    }

    /// The hash of each input, in their order. An error belongs to its input alone.
    ///
    /// As many inputs as the kernel has lanes are computed at once, which takes less time than one
    /// after the other. Never uses more than ``Kernel/maximumMemoryBytes`` for that, except if one
    /// input needs more.
    public static func hash(
        _ inputs: [Input], parameters: Parameters, kernel: Kernel = .best
    ) -> [Result<[UInt8], CryptographyError>] {
        guard let set = kernel.instructionSet else {
            return inputs.map { hashByLibrary($0, parameters) }
        }
        let lanes = kernel.lanes(for: parameters)
        let bytes = postern_scrypt_scratch_bytes(lanes, parameters.n, parameters.r)
        guard let memory = HashMemory.take(bytes) else {
            // It needs memory for one input only.
            return inputs.map { hashByLibrary($0, parameters) }
        }
        defer { HashMemory.giveBack(memory) }
        // Of an input with p > 1, the p blocks are computed at once.
        let inputsAtOnce = max(1, lanes / parameters.p)
        return stride(from: 0, to: inputs.count, by: inputsAtOnce).flatMap { first in
            let group = inputs[first..<min(first + inputsAtOnce, inputs.count)]
            return hash(group, parameters) { blocks, count in
                postern_scrypt_mix(
                    set, blocks, count, lanes, parameters.n, parameters.r,
                    memory.assumingMemoryBound(to: UInt8.self))
            }
        }
    }

    /// RFC 7914 §6: the blocks of each input from its password and salt, mixed, and the digest from
    /// the password and the blocks.
    private static func hash(
        _ inputs: ArraySlice<Input>, _ parameters: Parameters,
        mix: (_ blocks: UnsafeMutablePointer<UInt8>, _ count: Int) -> Void
    ) -> [Result<[UInt8], CryptographyError>] {
        let blockBytes = 128 * parameters.r * parameters.p
        // The blocks of a failed input are mixed, too, and ignored.
        let derived = inputs.map { input in
            Result { () throws(CryptographyError) in
                try derive(input.password, salt: input.salt, outputBytes: blockBytes)
            }
        }
        let none = [UInt8](repeating: 0, count: blockBytes)
        var blocks = derived.flatMap { (try? $0.get()) ?? none }
        blocks.withUnsafeMutableBufferPointer { blocks in
            guard let start = blocks.baseAddress else { return }
            mix(start, inputs.count * parameters.p)
        }
        return zip(inputs, derived).enumerated().map { index, member in
            Result { () throws(CryptographyError) in
                _ = try member.1.get()
                let mixed = blocks[index * blockBytes..<(index + 1) * blockBytes]
                return try derive(
                    member.0.password, salt: Array(mixed), outputBytes: parameters.outputBytes)
            }
        }
    }

    /// PBKDF2-HMAC-SHA256 with one iteration (RFC 8018 §5.2).
    private static func derive(
        _ password: [UInt8], salt: [UInt8], outputBytes: Int
    ) throws(CryptographyError) -> [UInt8] {
        guard let passwordBytes = Int32(exactly: password.count) else {
            throw .parameterOutOfBounds("scrypt password length")
        }
        guard let saltBytes = Int32(exactly: salt.count) else {
            throw .parameterOutOfBounds("scrypt salt length")
        }
        var output = [UInt8](repeating: 0, count: outputBytes)
        let status = password.withUnsafeBytes { password in
            PKCS5_PBKDF2_HMAC(
                password.baseAddress?.assumingMemoryBound(to: CChar.self), passwordBytes,
                salt, saltBytes, 1, SHA256.algorithm.pointer, Int32(outputBytes), &output)
        }
        guard status == 1 else { throw ErrorQueue.drain(after: "PBKDF2") }
        return output
    }

    private static func hashByLibrary(
        _ input: Input, _ parameters: Parameters
    ) -> Result<[UInt8], CryptographyError> {
        var digest = [UInt8](repeating: 0, count: parameters.outputBytes)
        let status = libscrypt_scrypt(
            input.password, input.password.count, input.salt, input.salt.count,
            UInt64(parameters.n), UInt32(parameters.r), UInt32(parameters.p), &digest,
            digest.count)
        guard status == 0 else {
            return .failure(.libraryFailure(operation: "scrypt", code: 0))
        }
        return .success(digest)
    }
}
