internal import CScryptLanes
internal import Synchronization

extension Scrypt {
    /// The implementation of scrypt.
    public enum Implementation: String, CaseIterable, Sendable {
        /// ``CScryptLanes`` with AVX-512VL.
        case avx512
        case avx2
        /// Every x86-64 processor has these instructions.
        case sse2
        /// One input at a time, on every processor.
        case libscrypt
    }

    /// How scrypt is computed: by which implementation, and how many inputs at once.
    ///
    /// Every value can be used on this processor, and its results agree with libscrypt: see
    /// ``choose(_:atMost:)``.
    public struct Kernel: Equatable, Sendable, CustomStringConvertible {
        public let implementation: Implementation
        /// The most inputs that are computed at once.
        public let lanes: Int

        /// The most memory of one computation with several lanes: eight times 16 MiB, which is what
        /// one input needs with N = 16384 and r = 8.
        public static let maximumMemoryBytes = 128 << 20

        /// The kernel of the fastest implementation.
        public static let best = choose(nil).kernel

        private init(_ implementation: Implementation, lanes: Int) {
            self.implementation = implementation
            self.lanes = lanes
        }

        /// As many lanes as there is memory for.
        public func lanes(for parameters: Parameters) -> Int {
            max(1, min(lanes, Self.maximumMemoryBytes / (128 * parameters.n * parameters.r)))
        }

        public var description: String {
            "\(implementation.rawValue), \(lanes) at once"
        }

        var instructionSet: postern_scrypt_set? { implementation.instructionSet }
    }
}

extension Scrypt.Implementation {
    /// Whether this processor has the instructions.
    public var isSupported: Bool {
        guard let instructionSet else { return true }
        return postern_scrypt_is_supported(instructionSet)
    }

    fileprivate var lanes: Int {
        guard let instructionSet else { return 1 }
        return postern_scrypt_lanes(instructionSet)
    }

    fileprivate var instructionSet: postern_scrypt_set? {
        switch self {
        case .avx512: POSTERN_SCRYPT_AVX512
        case .avx2: POSTERN_SCRYPT_AVX2
        case .sse2: POSTERN_SCRYPT_SSE2
        case .libscrypt: nil
        }
    }
}

extension Scrypt.Kernel {
    /// The result of ``choose(_:atMost:)``.
    public struct Choice: Sendable {
        public let kernel: Scrypt.Kernel
        /// Implementations whose results differed from libscrypt on this machine.
        public let faulty: [Scrypt.Implementation]
        /// Whether the requested implementation differs from the one in use.
        public let isReplaced: Bool
    }

    /// The fastest implementation on this processor that agrees with libscrypt on small inputs,
    /// with each number of lanes in use. This is tested once in a process, in about a millisecond.
    /// - Parameters: - wanted: this one instead, if it can be used.
    ///   - lanes: the most lanes.
    public static func choose(
        _ wanted: Scrypt.Implementation?, atMost lanes: Int = .max
    ) -> Choice {
        choose(wanted, atMost: lanes, check: isCorrect)
    }

    private static let verdicts = Mutex<[Scrypt.Implementation: Bool]>([:])

    /// Compares each implementation once; a second caller waits for the first.
    private static func isCorrect(_ kernel: Scrypt.Kernel) -> Bool {
        verdicts.withLock { verdicts in
            let implementation = kernel.implementation
            if let known = verdicts[implementation] { return known }
            let all = Scrypt.Kernel(implementation, lanes: implementation.lanes)
            let isCorrect = all.agreesWithLibscrypt()
            verdicts[implementation] = isCorrect
            return isCorrect
        }
    }

    static func choose(
        _ wanted: Scrypt.Implementation?, atMost lanes: Int,
        check: (Scrypt.Kernel) -> Bool
    ) -> Choice {
        precondition(lanes > 0)
        var faulty: [Scrypt.Implementation] = []
        let fastestFirst = Scrypt.Implementation.allCases
        let candidates = wanted.map { [$0] + fastestFirst } ?? fastestFirst
        for candidate in candidates
        where candidate.isSupported && !faulty.contains(candidate) {
            let kernel = Scrypt.Kernel(candidate, lanes: min(lanes, candidate.lanes))
            if candidate == .libscrypt || check(kernel) {
                return Choice(
                    kernel: kernel, faulty: faulty,
                    isReplaced: wanted != nil && wanted != candidate)
            }
            faulty.append(candidate)
        }
        preconditionFailure("libscrypt is always supported")
    }

    private func agreesWithLibscrypt() -> Bool {
        let library = Scrypt.Kernel(.libscrypt, lanes: 1)
        guard let parameters = try? Scrypt.Parameters(n: 16, r: 8, p: 1, outputBytes: 64) else {
            return false
        }
        let inputs = (0..<UInt8(lanes)).map { lane in
            Scrypt.Input(password: [lane, 1, 2, 3], salt: [4, 5, 6, lane])
        }
        let expected = Scrypt.hash(inputs, parameters: parameters, kernel: library)
        // The lanes that an incomplete group leaves empty are the same for every such group.
        return [1, max(1, lanes - 1), lanes].allSatisfy { count in
            Scrypt.hash(Array(inputs.prefix(count)), parameters: parameters, kernel: self)
                == Array(expected.prefix(count))
        }
    }
}
