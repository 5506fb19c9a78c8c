internal import CArgon2
internal import CArgon2Kernels

/// The Argon2 password hash, version 19 (RFC 9106), computed by a ``Kernel``.
public enum Argon2 {
    /// The variants of RFC 9106 that are used. Argon2d is missing, because its memory accesses
    /// depend on the password.
    public enum Variant: Sendable {
        case argon2i
        case argon2id
    }

    /// Bounds, so that no parameter can require all memory or minutes of time. For hashes that come
    /// from clients, callers check stricter bounds first.
    public static let memoryKiB = 8...1_048_576
    public static let iterations = 1...64
    public static let parallelism = 1...16
    public static let saltBytes = 8...64
    public static let outputBytes = 4...512

    /// The raw tag. Uses `memoryKiB` of memory. Lanes are computed one after another: callers
    /// compute as many hashes at once as there are cores.
    public static func hash(
        password: [UInt8], salt: [UInt8], iterations: Int, memoryKiB: Int, parallelism: Int,
        outputBytes: Int, variant: Variant, kernel: Kernel = .best
    ) throws(CryptographyError) -> [UInt8] {
        try hash(
            password: password, salt: salt, secret: [], associated: [], iterations: iterations,
            memoryKiB: memoryKiB, parallelism: parallelism, outputBytes: outputBytes,
            variant: variant, kernel: kernel)
    }

    /// Also takes the two inputs that only tests use.
    static func hash(
        password: [UInt8], salt: [UInt8], secret: [UInt8], associated: [UInt8],
        iterations: Int, memoryKiB: Int, parallelism: Int, outputBytes: Int, variant: Variant,
        kernel: Kernel
    ) throws(CryptographyError) -> [UInt8] {
        try check(iterations, in: Self.iterations, "Argon2 iterations")
        try check(memoryKiB, in: Self.memoryKiB, "Argon2 memory")
        try check(parallelism, in: Self.parallelism, "Argon2 parallelism")
        try check(memoryKiB, in: (8 * parallelism)...Self.memoryKiB.upperBound, "Argon2 memory")
        try check(salt.count, in: Self.saltBytes, "Argon2 salt length")
        try check(outputBytes, in: Self.outputBytes, "Argon2 output length")
        try check(password.count, in: 0...Int(Int32.max), "Argon2 password length")

        var context = argon2_context()
        context.outlen = UInt32(outputBytes)
        context.pwdlen = UInt32(password.count)
        context.saltlen = UInt32(salt.count)
        context.secretlen = UInt32(secret.count)
        context.adlen = UInt32(associated.count)
        context.t_cost = UInt32(iterations)
        context.m_cost = UInt32(memoryKiB)
        context.lanes = UInt32(parallelism)
        context.threads = 1
        context.version = ARGON2_VERSION_13.rawValue
        context.allocate_cbk = { memory, bytes in
            guard let block = HashMemory.take(bytes) else {
                return ARGON2_MEMORY_ALLOCATION_ERROR.rawValue
            }
            memory?.pointee = block.assumingMemoryBound(to: UInt8.self)
            return ARGON2_OK.rawValue
        }
        context.free_cbk = { memory, _ in
            if let memory { HashMemory.giveBack(memory) }
        }
        // libargon2 takes mutable pointers, because it can be told to wipe its inputs.
        var (password, salt, secret, associated) = (password, salt, secret, associated)
        var tag = [UInt8](repeating: 0, count: outputBytes)
        let status = run(
            &context, variant, kernel, &tag, &password, &salt, &secret, &associated)
        guard status == ARGON2_OK.rawValue else {
            throw .libraryFailure(operation: "Argon2", code: UInt(status.magnitude))
        }
        return tag
    }

    /// Fills in the addresses of the arrays, which are valid only during this call.
    private static func run(
        _ context: inout argon2_context, _ variant: Variant, _ kernel: Kernel,
        _ tag: UnsafeMutablePointer<UInt8>, _ password: UnsafeMutablePointer<UInt8>,
        _ salt: UnsafeMutablePointer<UInt8>, _ secret: UnsafeMutablePointer<UInt8>,
        _ associated: UnsafeMutablePointer<UInt8>
    ) -> Int32 {
        context.out = tag
        context.pwd = password
        context.salt = salt
        context.secret = secret
        context.ad = associated
        if let set = kernel.instructionSet { return compute(context, variant, set) }
        return argon2_ctx(&context, variant == .argon2i ? Argon2_i : Argon2_id)
    }

    /// Does what `argon2_ctx` does.
    private static func compute(
        _ context: argon2_context, _ variant: Variant, _ set: postern_argon2_set
    ) -> Int32 {
        guard let memory = HashMemory.take(Int(context.m_cost) << 10) else {
            return ARGON2_MEMORY_ALLOCATION_ERROR.rawValue
        }
        defer { HashMemory.giveBack(memory) }
        func bytes(_ start: UnsafePointer<UInt8>?, _ count: UInt32) -> postern_argon2_bytes {
            postern_argon2_bytes(bytes: start, count: Int(count))
        }
        var input = postern_argon2_input(
            type: variant == .argon2i ? POSTERN_ARGON2_I : POSTERN_ARGON2_ID,
            memory_kib: context.m_cost, passes: context.t_cost, lanes: context.lanes,
            password: bytes(context.pwd, context.pwdlen),
            salt: bytes(context.salt, context.saltlen),
            secret: bytes(context.secret, context.secretlen),
            associated: bytes(context.ad, context.adlen))
        let isComputed = postern_argon2_hash(
            set, &input, memory.assumingMemoryBound(to: UInt8.self), context.out,
            Int(context.outlen))
        return isComputed ? ARGON2_OK.rawValue : ARGON2_INCORRECT_PARAMETER.rawValue
    }

    private static func check(
        _ value: Int, in bounds: ClosedRange<Int>, _ name: String
    ) throws(CryptographyError) {
        guard bounds.contains(value) else { throw .parameterOutOfBounds(name) }
    }
}
