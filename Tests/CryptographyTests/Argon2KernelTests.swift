import TestPrimitives
import Testing

@testable import Cryptography

extension Argon2.Kernel {
    /// The kernel of an implementation that this processor has.
    static func using(_ implementation: Argon2.Implementation) throws -> Argon2.Kernel {
        let choice = choose(implementation)
        try #require(choice.kernel.implementation == implementation)
        return choice.kernel
    }
}

/// Each implementation that this processor has, beside libargon2. ``Argon2Tests`` has the vectors of
/// RFC 9106.
@Suite struct Argon2KernelTests {
    private static let supported = Argon2.Implementation.allCases.filter(\.isSupported)

    private static func bytes(
        _ count: ClosedRange<Int>, _ random: inout SeededGenerator
    ) -> [UInt8] {
        (0..<Int.random(in: count, using: &random)).map { _ in
            UInt8.random(in: .min ... .max, using: &random)
        }
    }

    @Test(arguments: supported)
    func agreesWithLibargon2OnRandomInputs(implementation: Argon2.Implementation) throws {
        var random = SeededGenerator(seed: 9106)
        let (kernel, library) = try (
            Argon2.Kernel.using(implementation), Argon2.Kernel.using(.libargon2)
        )
        for number in 0..<2_000 {
            let lanes = number % 2 == 0 ? Int.random(in: 2...16, using: &random) : 1
            let cost = Argon2Hash.Cost(
                memoryKiB: Int.random(in: (8 * lanes)...(100 * lanes), using: &random),
                iterations: Int.random(in: 1...4, using: &random), parallelism: lanes)
            let variant: Argon2.Variant = Bool.random(using: &random) ? .argon2i : .argon2id
            let password = Self.bytes(0...150, &random)
            let salt = Self.bytes(Argon2.saltBytes, &random)
            let (secret, associated) = (Self.bytes(0...40, &random), Self.bytes(0...40, &random))
            let outputBytes = Int.random(in: Argon2.outputBytes, using: &random)
            let tags = try [kernel, library].map { kernel in
                try Argon2.hash(
                    password: password, salt: salt, secret: secret, associated: associated,
                    iterations: cost.iterations, memoryKiB: cost.memoryKiB,
                    parallelism: cost.parallelism, outputBytes: outputBytes, variant: variant,
                    kernel: kernel)
            }
            try #require(tags[0] == tags[1], "\(kernel), \(variant), \(cost), \(outputBytes)")
        }
    }

    /// As large as those in use, so that the addresses take several blocks.
    @Test(
        arguments: supported,
        [
            Argon2Hash.Cost(memoryKiB: 19_456, iterations: 2, parallelism: 1),
            Argon2Hash.Cost(memoryKiB: 16_384, iterations: 3, parallelism: 1),
            Argon2Hash.Cost(memoryKiB: 9_999, iterations: 2, parallelism: 3),
        ])
    func agreesWithLibargon2OnUsualCosts(
        implementation: Argon2.Implementation, cost: Argon2Hash.Cost
    ) throws {
        for variant in [Argon2.Variant.argon2i, .argon2id] {
            let hashes = try [implementation, .libargon2].map { implementation in
                try Argon2Hash(
                    password: [1, 2, 3], variant: variant, cost: cost, salt: Array(1...16),
                    kernel: .using(implementation))
            }
            #expect(hashes[0] == hashes[1])
            #expect(try hashes[1].isTag(of: [1, 2, 3], kernel: .using(implementation)))
            #expect(try !hashes[1].isTag(of: [1, 2], kernel: .using(implementation)))
        }
    }
}

/// Which kernel a process uses.
@Suite struct Argon2KernelChoiceTests {
    private static let supported = Argon2.Implementation.allCases.filter(\.isSupported)

    private static func choose(
        _ wanted: Argon2.Implementation? = nil, faulty: [Argon2.Implementation] = []
    ) -> Argon2.Kernel.Choice {
        Argon2.Kernel.choose(wanted) { !faulty.contains($0.implementation) }
    }

    @Test func theFastestThatTheProcessorHasIsUsed() {
        let choice = Self.choose()
        #expect(choice.kernel.implementation == Self.supported.first)
        #expect(choice.faulty == nil && !choice.isReplaced)
        #expect(Argon2.Kernel.best == choice.kernel)
        #expect(Self.supported.last == .libargon2)
    }

    @Test(arguments: supported) func oneThatIsAskedForIsUsed(wanted: Argon2.Implementation) {
        let choice = Self.choose(wanted)
        #expect(choice.kernel.implementation == wanted)
        #expect(choice.faulty == nil && !choice.isReplaced)
    }

    @Test(arguments: Argon2.Implementation.allCases.filter { !$0.isSupported })
    func oneThatTheProcessorHasNotIsReplaced(wanted: Argon2.Implementation) {
        let choice = Self.choose(wanted)
        #expect(choice.kernel == Argon2.Kernel.best && choice.isReplaced)
    }

    @Test func libargon2IsUsedInsteadOfOneThatComputesSomethingElse() {
        for faulty in Self.supported.dropLast() {
            let choice = Self.choose(faulty, faulty: [faulty])
            #expect(choice.kernel.implementation == .libargon2 && choice.faulty == faulty)
        }
        let kernels = Array(Self.supported.dropLast())
        let choice = Self.choose(faulty: kernels)
        #expect(choice.kernel.implementation == .libargon2 && choice.faulty == kernels.first)
        #expect(!choice.isReplaced)
    }
}
