internal import CArgon2Kernels
internal import Synchronization

extension Argon2 {
    /// The implementation of Argon2.
    public enum Implementation: String, CaseIterable, Sendable {
        /// ``CArgon2Kernels`` with AVX-512.
        case avx512
        case avx2
        /// Every x86-64 processor has these instructions.
        case sse2
        /// The library of the distribution, on every processor.
        case libargon2
    }

    /// How Argon2 is computed.
    ///
    /// Every value can be used on this processor, and its results agree with libargon2: see
    /// ``choose(_:)``.
    public struct Kernel: Equatable, Sendable, CustomStringConvertible {
        public let implementation: Implementation

        /// The kernel of the fastest implementation.
        public static let best = choose(nil).kernel

        fileprivate init(_ implementation: Implementation) {
            self.implementation = implementation
        }

        public var description: String { implementation.rawValue }

        var instructionSet: postern_argon2_set? { implementation.instructionSet }
    }
}

extension Argon2.Implementation {
    /// Whether this processor has the instructions.
    public var isSupported: Bool {
        guard let instructionSet else { return true }
        return postern_argon2_is_supported(instructionSet)
    }

    fileprivate var instructionSet: postern_argon2_set? {
        switch self {
        case .avx512: POSTERN_ARGON2_AVX512
        case .avx2: POSTERN_ARGON2_AVX2
        case .sse2: POSTERN_ARGON2_SSE2
        case .libargon2: nil
        }
    }
}

extension Argon2.Kernel {
    /// The result of ``choose(_:)``.
    public struct Choice: Sendable {
        public let kernel: Argon2.Kernel
        /// The implementation that would be in use, if its results agreed with libargon2.
        public let faulty: Argon2.Implementation?
        /// Whether this processor does not have the requested implementation.
        public let isReplaced: Bool
    }

    /// The fastest implementation on this processor, or `wanted` if the processor has it.
    ///
    /// If it disagrees with libargon2 on small inputs, it is libargon2: a processor or a compiler
    /// that makes one mistake may make others. This is tested once in a process, in less than a
    /// millisecond.
    public static func choose(_ wanted: Argon2.Implementation?) -> Choice {
        choose(wanted, check: isCorrect)
    }

    static func choose(
        _ wanted: Argon2.Implementation?, check: (Argon2.Kernel) -> Bool
    ) -> Choice {
        let fastest = Argon2.Implementation.allCases.first(where: \.isSupported) ?? .libargon2
        let isReplaced = wanted.map { !$0.isSupported } ?? false
        let candidate = isReplaced ? fastest : wanted ?? fastest
        let kernel = Argon2.Kernel(candidate)
        guard candidate == .libargon2 || check(kernel) else {
            return Choice(
                kernel: Argon2.Kernel(.libargon2), faulty: candidate, isReplaced: isReplaced)
        }
        return Choice(kernel: kernel, faulty: nil, isReplaced: isReplaced)
    }

    private static let verdicts = Mutex<[Argon2.Implementation: Bool]>([:])

    /// Compares each implementation once; a second caller waits for the first.
    private static func isCorrect(_ kernel: Argon2.Kernel) -> Bool {
        verdicts.withLock { verdicts in
            let implementation = kernel.implementation
            if let known = verdicts[implementation] { return known }
            let isCorrect = kernel.agreesWithLibargon2()
            verdicts[implementation] = isCorrect
            return isCorrect
        }
    }

    /// Compares inputs with one lane and with two, with one block of addresses and with several,
    /// and with one pass and with more.
    private func agreesWithLibargon2() -> Bool {
        let costs: [(Argon2.Variant, Argon2Hash.Cost)] = [
            (.argon2id, .init(memoryKiB: 8, iterations: 1, parallelism: 1)),
            (.argon2id, .init(memoryKiB: 67, iterations: 3, parallelism: 1)),
            (.argon2id, .init(memoryKiB: 540, iterations: 1, parallelism: 1)),
            (.argon2i, .init(memoryKiB: 35, iterations: 2, parallelism: 1)),
            (.argon2i, .init(memoryKiB: 40, iterations: 2, parallelism: 2)),
        ]
        return costs.enumerated().allSatisfy { index, input in
            let password = [UInt8](repeating: UInt8(index), count: 50 * index)
            let tags = [self, Argon2.Kernel(.libargon2)].map { kernel in
                try? Argon2Hash(
                    password: password, variant: input.0, cost: input.1,
                    salt: Array(1...16), tagBytes: 32 + 20 * index, kernel: kernel
                ).tag
            }
            return tags[0] != nil && tags[0] == tags[1]
        }
    }
}
