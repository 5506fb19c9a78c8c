import AuthCore
import AuthStorage
import Cryptography
import HTTPEngine
import Testing

@testable import postern

@Suite struct ConfigTests {
    @Test func everyFieldHasItsSettingAndEverySettingItsField() {
        let config = Config()
        let sections: [(String, Any)] = [
            ("server", config.server), ("storage", config.storage), ("mail", config.mail),
            ("pow", config.pow), ("tokens", config.tokens), ("passwords", config.passwords),
            ("accounts", config.accounts), ("users", config.users), ("limits", config.limits),
            ("hash_login", config.hashLogin),
            ("dns", config.dns), ("audit", config.audit),
        ]
        #expect(Mirror(reflecting: config).children.count == sections.count + 1)
        for (name, section) in sections {
            let fields = Mirror(reflecting: section).children.compactMap(\.label).map {
                "\(name).\($0)".filter { $0 != "_" }.lowercased()
            }
            let keys = Config.settings.map(\.key).filter { $0.hasPrefix("\(name).") }.map {
                $0.filter { $0 != "_" }
            }
            #expect(fields == keys)
        }
    }

    @Test func theKeysAreUniqueAndTheirVariablesToo() {
        #expect(Set(Config.settings.map(\.key)).count == Config.settings.count)
        #expect(Set(Config.settings.map(\.variable)).count == Config.settings.count)
    }

    @Test func productionDrainsFiveSecondsAndNeedsAPublicURLAndAnIssuer() throws {
        #expect(faults(loader(file: "profile = \"production\"")).count == 2)
        let loaded = try loader(
            file: """
                profile = "production"
                server.public_url = "https://Auth.example.com/"
                hash_login.issuer = "https://auth.example.com"
                """
        ).load()
        #expect(loaded.config.server.drainDelay == .seconds(5))
        #expect(loaded.config.server.publicURL?.text == "https://auth.example.com")
    }

    @Test func productionFetchesOverHTTPSFromPublicAddressesOnly() {
        let production = """
            profile = "production"
            server.public_url = "https://auth.example.com"
            hash_login.issuer = "https://auth.example.com"

            """
        for key in ["hash_login.allow_http", "hash_login.allow_private_networks"] {
            #expect(
                faults(loader(file: production + "\(key) = true")) == [
                    "config/postern.toml:4: \(key): is for tests, and this is the production "
                        + "profile; leave it out, or try things out in the development profile"
                ])
            #expect(faults(loader(file: production + "\(key) = false")).isEmpty)
            #expect(faults(loader(file: "\(key) = true")).isEmpty)
        }
    }

    /// Otherwise a slow host would show in the time of an answer.
    @Test func aFailureFloorNoLongerThanTheFetchIsRefused() {
        for (floor, timeout, isRefused) in [
            ("2s", "2s", true), ("1s", "2s", true), ("2001ms", "2s", false),
        ] {
            let found = faults(
                loader(
                    file: "[hash_login]\nfailure_floor = \"\(floor)\"\n"
                        + "login_timeout = \"\(timeout)\""))
            #expect(
                found.map { $0.contains("hash_login.failure_floor: ") } == (isRefused ? [true] : [])
            )
        }
    }

    /// Otherwise a request that is alone could be told that there is no room.
    @Test(arguments: [(393_216, true), (393_215, false)])
    func theBufferLimitHasRoomForSomeRequests(octets: Int, isAccepted: Bool) {
        let found = faults(loader(file: "[server]\nbuffer_limit = \(octets)"))
        let refused = [
            "config/postern.toml:2: server.buffer_limit: has no room for four of the largest "
                + "requests; raise it to 393216 or more, or lower server.body_limit"
        ]
        #expect(found == (isAccepted ? [] : refused))
    }

    @Test func whatAServedHashMayAskForIsLoweredAndNeverRaised() throws {
        let config = try loader(
            file: """
                [hash_login]
                max_memory_kib = 19456
                max_iterations = 3
                max_parallelism = 1
                max_salt_bytes = 16
                max_tag_bytes = 32
                """
        ).load().config.hashLogin
        let bounds = HashLoginAuth.Settings(config).bounds
        #expect(
            bounds
                == Argon2Hash.Bounds(
                    memoryKiB: 19_456, iterations: 3, parallelism: 1, saltBytes: 8...16,
                    tagBytes: 16...32))
        #expect(HashLoginAuth.Settings(Config.HashLogin()).bounds == .served)
        for line in [
            "max_memory_kib = 65537", "max_iterations = 11", "max_parallelism = 5",
            "max_salt_bytes = 65", "max_tag_bytes = 65", "max_salt_bytes = 7", "max_tag_bytes = 15",
        ] {
            #expect(faults(loader(file: "[hash_login]\n\(line)")).count == 1, "\(line)")
        }
    }

    @Test func aProfileNeverChangesWhatWasSet() throws {
        let loaded = try loader(
            file: "[pow]\nagent_difficulty = 4", flags: [("profile", "--profile", "test")]
        ).load()
        #expect(loaded.config.pow.agentDifficulty == 4)
        #expect(loaded.config.pow.agentMaxDifficulty == 4)
    }

    @Test func theTestProfileIsEasyAndKeepsItsDatabaseInMemory() throws {
        let loaded = try loader(flags: [("profile", "--profile", "test")]).load()
        #expect(loaded.config.pow.agentDifficulty == 1)
        #expect(loaded.config.database.isInMemory)
    }

    @Test func theTestProfileUsesADatabaseThatIsNamed() throws {
        let test = ("profile", "--profile", "test")
        let byDirectory = try loader(flags: [test, ("storage.directory", "--data", "here")]).load()
        #expect(byDirectory.config.database == .inDirectory("here"))
        let byURL = try loader(file: "[storage]\nurl = \"sqlite:a.db\"", flags: [test]).load()
        #expect(byURL.config.database.url == "sqlite:a.db")
    }

    @Test func aMaximumBelowTheDifficultyIsRefusedOnlyWhenItWasSet() throws {
        let raised = try loader(file: "[pow]\nagent_difficulty = 12").load()
        #expect(raised.config.pow.agentMaxDifficulty == 12)
        #expect(
            faults(loader(file: "[pow]\nagent_max_difficulty = 3")) == [
                "config/postern.toml:2: pow.agent_max_difficulty: 3 is less than "
                    + "pow.agent_difficulty (6); raise it or lower pow.agent_difficulty"
            ])
    }

    /// Otherwise the server starts, and every login is answered 500.
    @Test func passwordSettingsThatCannotBeComputedAreRefused() throws {
        #expect(
            faults(loader(file: "[passwords]\nmemory_kib = 31\nparallelism = 4")) == [
                "config/postern.toml:2: passwords.memory_kib: 31 is less than 8 for each lane "
                    + "(passwords.parallelism is 4); raise it to 32 or more, or lower "
                    + "passwords.parallelism"
            ])
        _ = try loader(file: "[passwords]\nmemory_kib = 32\nparallelism = 4").load()
        _ = try loader(file: "[passwords]\niterations = 64").load()
        #expect(faults(loader(file: "[passwords]\niterations = 65")).count == 1)
    }

    @Test func aProxyHeaderIsRequiredOnlyOfSomebody() throws {
        let required = "server.proxy_protocol = \"required\"\n"
        #expect(faults(loader(file: required)).count == 1)
        let named = required + "server.trusted_proxies = [\"10.0.0.0/8\"]"
        #expect(try loader(file: named).load().config.server.proxyProtocol == .required)
        #expect(faults(loader(file: "server.proxy_protocol = \"on\"")).count == 1)
    }

    @Test func oneDomainIsNotNamedTwice() {
        #expect(faults(loader(file: "[mail]\ndomains = [\"a.test\", \"A.TEST\"]")).count == 1)
    }

    @Test func outsideProductionThePublicURLFollowsThePort() {
        #expect(Config().publicURL(port: 8123)?.text == "http://127.0.0.1:8123")
    }
}
