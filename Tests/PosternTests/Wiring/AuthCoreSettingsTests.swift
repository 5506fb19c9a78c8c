import Cryptography
import Testing

@testable import AuthCore
@testable import Configuration
@testable import Platform
@testable import postern

/// What the use cases get from the settings.
@Suite struct AuthCoreSettingsTests {
    @Test func theDefaultRatesAreThoseOfTheRateLimiter() {
        let rates = RateLimiter.Settings(LimitSection()).rates
        for kind in RateLimiter.Class.allCases {
            #expect(rates[kind] == kind.defaultRate, "\(kind)")
        }
    }

    @Test func theLimitsOfServedHashesCanBeLowered() throws {
        let file = """
            [hash_login]
            max_memory_kib = 19456
            max_iterations = 3
            max_memory_passes = 38912
            max_parallelism = 1
            max_salt_bytes = 16
            max_tag_bytes = 32
            """
        let loader = ConfigLoader(readFile: { _ throws(FileError) in file })
        #expect(
            HashLogins.Settings(try loader.load().config).bounds
                == Argon2Hash.Bounds(
                    memoryKiB: 19_456, iterations: 3, parallelism: 1, memoryPasses: 38_912,
                    saltBytes: 8...16, tagBytes: 16...32))
        #expect(HashLogins.Settings(Config()).bounds == .served)
    }

    @Test(arguments: Argon2.Implementation.allCases.filter(\.isSupported))
    func servedHashesAreComputedAsConfigured(implementation: Argon2.Implementation) throws {
        var config = Config()
        config.passwords.argon2 = try #require(Argon2Choice(rawValue: implementation.rawValue))
        #expect(HashLogins.Settings(config).kernel.implementation == implementation)
        config.passwords.argon2 = .auto
        #expect(HashLogins.Settings(config).kernel == .best)
    }
}
