import Testing

@testable import Cryptography
@testable import postern

/// What an operator reads when scrypt is not computed as it was asked for.
@Suite struct ScryptWarningsTests {
    private static let supported = Scrypt.Implementation.allCases.filter(\.isSupported)

    private func warnings(
        _ wanted: Scrypt.Implementation?, faulty: [Scrypt.Implementation] = []
    ) -> [String] {
        Scrypt.Kernel.choose(wanted, atMost: 8) { !faulty.contains($0.implementation) }.warnings
    }

    @Test(arguments: [nil] + supported.map { $0 as Scrypt.Implementation? })
    func whatIsUsedAsItWasAskedForIsNotWorthAWarning(wanted: Scrypt.Implementation?) {
        #expect(warnings(wanted) == [])
    }

    @Test func instructionsThatTheProcessorDoesNotHaveAreNamed() {
        let choice = Scrypt.Kernel.Choice(kernel: .best, faulty: [], isReplaced: true)
        #expect(choice.warnings.count == 1)
        #expect(choice.warnings[0].contains("pow.scrypt"))
        #expect(choice.warnings[0].contains("\(Scrypt.Kernel.best)"))
    }

    @Test func eachImplementationThatIsWrongIsNamed() {
        let kernels = Self.supported.filter { $0 != .libscrypt }
        for wanted in [nil] + kernels.map({ $0 as Scrypt.Implementation? }) {
            let found = warnings(wanted, faulty: kernels)
            #expect(found.count == kernels.count)
            for kernel in kernels {
                #expect(found.count { $0.contains("scrypt with \(kernel.rawValue) ") } == 1)
            }
        }
    }
}
