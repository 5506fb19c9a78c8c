import Logging
import Testing

@testable import Cryptography
@testable import postern

/// What an operator reads when Argon2 is not computed as it was asked for.
@Suite struct Argon2WarningsTests {
    private static let supported = Argon2.Implementation.allCases.filter(\.isSupported)

    @Test(arguments: [nil] + supported.map { $0 as Argon2.Implementation? })
    func whatIsUsedAsItWasAskedForIsNotWorthAWarning(wanted: Argon2.Implementation?) {
        #expect(Argon2.Kernel.choose(wanted) { _ in true }.problem == nil)
    }

    @Test func aProcessorWithoutTheInstructionsIsNamedOnce() throws {
        let choice = Argon2.Kernel.Choice(kernel: .best, faulty: nil, isReplaced: true)
        let problem = try #require(choice.problem)
        #expect(problem.level == .warning && problem.message.contains("passwords.argon2"))
        #expect(problem.message.contains("\(Argon2.Kernel.best)"))
    }

    @Test(arguments: supported.filter { $0 != .libargon2 })
    func differentResultsAreCritical(faulty: Argon2.Implementation) throws {
        let choice = Argon2.Kernel.choose(faulty) { _ in false }
        let problem = try #require(choice.problem)
        #expect(problem.level == .critical && problem.message.contains(faulty.rawValue))
    }
}
