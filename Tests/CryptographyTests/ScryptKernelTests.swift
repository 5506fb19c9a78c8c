import Glibc
import TestPrimitives
import TestSupport
import Testing

@testable import Cryptography

/// Each implementation that this processor has, beside libscrypt and the vectors of RFC 7914.
@Suite struct ScryptKernelTests {
    private static let supported = Scrypt.Implementation.allCases.filter(\.isSupported)

    private static func kernel(
        _ implementation: Scrypt.Implementation, lanes: Int = .max
    ) throws -> Scrypt.Kernel {
        let choice = Scrypt.Kernel.choose(implementation, atMost: lanes)
        try #require(choice.kernel.implementation == implementation && choice.faulty.isEmpty)
        return choice.kernel
    }

    private static func inputs(
        _ count: Int, _ random: inout SeededGenerator
    ) -> [Scrypt.Input] {
        (0..<count).map { _ in
            func bytes() -> [UInt8] {
                (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: .min ... .max, using: &random)
                }
            }
            return Scrypt.Input(password: bytes(), salt: bytes())
        }
    }

    @Test(arguments: supported, try VectorFile.records("scrypt.txt"))
    func agreesWithRFC7914(implementation: Scrypt.Implementation, record: VectorFile.Record) throws
    {
        let expected = try record.bytes("digest")
        let parameters = try Scrypt.Parameters(
            n: record.number("n"), r: record.number("r"), p: record.number("p"),
            outputBytes: expected.count)
        let digest = try Scrypt.hash(
            password: record.bytes("password"), salt: record.bytes("salt"), parameters: parameters,
            kernel: Self.kernel(implementation))
        #expect(digest == expected)
    }

    /// Every number of lanes, and batches that are no multiples of it.
    @Test(arguments: supported)
    func agreesWithLibscryptOnRandomInputs(implementation: Scrypt.Implementation) throws {
        var random = SeededGenerator(seed: 7914)
        let library = try Self.kernel(.libscrypt)
        let kernels = try (1...8).map { try Self.kernel(implementation, lanes: $0) }
        var compared = 0
        while compared < 10_000 {
            let parameters = try Scrypt.Parameters(
                n: 2 << Int.random(in: 0...3, using: &random),
                r: Int.random(in: 1...3, using: &random),
                p: compared % 5 == 0 ? Int.random(in: 2...16, using: &random) : 1,
                outputBytes: Int.random(in: 1...80, using: &random))
            let inputs = Self.inputs(Int.random(in: 0...19, using: &random), &random)
            let kernel = try #require(kernels.randomElement(using: &random))
            let digests = Scrypt.hash(inputs, parameters: parameters, kernel: kernel)
            try #require(
                digests == Scrypt.hash(inputs, parameters: parameters, kernel: library),
                "\(kernel), \(parameters), \(inputs.count) inputs")
            compared += inputs.count
        }
    }

    @Test(arguments: supported)
    func parametersThatNeedMoreMemoryGetFewerLanes(implementation: Scrypt.Implementation) throws {
        let kernel = try Self.kernel(implementation)
        for (n, r) in [(2, 1), (1 << 14, 8), (1 << 15, 8), (1 << 16, 8), (2, 1 << 18)] {
            let parameters = try Scrypt.Parameters(n: n, r: r, p: 1, outputBytes: 64)
            let lanes = kernel.lanes(for: parameters)
            #expect(lanes >= 1 && lanes <= kernel.lanes)
            #expect(lanes == 1 || lanes * 128 * n * r <= Scrypt.Kernel.maximumMemoryBytes)
        }
        let agents = try Scrypt.Parameters(n: 1 << 14, r: 8, p: 1, outputBytes: 64)
        #expect(kernel.lanes(for: agents) == kernel.lanes)
    }

    /// In a process of its own: its memory is limited.
    @Test func withoutMemoryForTheLanesInputsAreComputedOneByOne() async {
        await #expect(processExitsWith: .success) {
            var random = SeededGenerator(seed: 1)
            let inputs = Self.inputs(8, &random)
            let parameters = try Scrypt.Parameters(n: 1 << 14, r: 8, p: 1, outputBytes: 16)
            let kernel = Scrypt.Kernel.best
            let digests = Scrypt.hash(inputs, parameters: parameters, kernel: kernel)
            HashMemory.release()
            // What the process has mapped now, and room for one input.
            let pages = try #require(try VectorFile.number(inFile: "/proc/self/statm"))
            let bytes = UInt(pages * Int(sysconf(Int32(_SC_PAGESIZE))) + (28 << 20))
            var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
            #expect(HashMemory.take(32 << 20) == nil)
            #expect(Scrypt.hash(inputs, parameters: parameters, kernel: kernel) == digests)
        }
    }
}

/// Which kernel a process uses.
@Suite struct ScryptKernelChoiceTests {
    private static let supported = Scrypt.Implementation.allCases.filter(\.isSupported)

    private static func choose(
        _ wanted: Scrypt.Implementation? = nil, atMost lanes: Int = .max,
        faulty: [Scrypt.Implementation] = []
    ) -> Scrypt.Kernel.Choice {
        Scrypt.Kernel.choose(wanted, atMost: lanes) { !faulty.contains($0.implementation) }
    }

    @Test func theFastestThatTheProcessorHasIsUsed() throws {
        let choice = Self.choose()
        #expect(choice.kernel.implementation == Self.supported.first)
        #expect(choice.faulty.isEmpty && !choice.isReplaced)
        #expect(Scrypt.Kernel.best == choice.kernel)
        #expect(Self.supported.last == .libscrypt)
    }

    @Test(arguments: supported) func oneThatIsAskedForIsUsed(wanted: Scrypt.Implementation) {
        let choice = Self.choose(wanted)
        #expect(choice.kernel.implementation == wanted && !choice.isReplaced)
    }

    @Test(arguments: Scrypt.Implementation.allCases.filter { !$0.isSupported })
    func oneThatTheProcessorHasNotIsReplaced(wanted: Scrypt.Implementation) {
        let choice = Self.choose(wanted)
        #expect(choice.kernel == Scrypt.Kernel.best && choice.isReplaced)
    }

    @Test func oneThatComputesSomethingElseIsReplacedAndNamed() throws {
        let kernels = Self.supported.dropLast()
        let choice = Self.choose(faulty: Array(kernels))
        #expect(choice.kernel.implementation == .libscrypt && choice.kernel.lanes == 1)
        #expect(choice.faulty == Array(kernels))
        for faulty in kernels {
            let choice = Self.choose(faulty, faulty: [faulty])
            #expect(choice.kernel.implementation != faulty && choice.isReplaced)
            #expect(choice.faulty == [faulty])
        }
    }

    @Test(arguments: 1...9) func lanesAreLimited(lanes: Int) {
        for implementation in Self.supported {
            let all = Self.choose(implementation).kernel.lanes
            #expect(Self.choose(implementation, atMost: lanes).kernel.lanes == min(lanes, all))
        }
    }
}
