import AuthStorage
import Cryptography
import HTTPEngine
import Testing

@testable import AuthCore
@testable import Configuration

@Suite struct ConfigTests {
    /// Values of which every setting accepts at least one that is not its default.
    private static let samples: [RawValue] = [
        .boolean(true), .boolean(false), .integer(3), .integer(7), .integer(17), .integer(90),
        .integer(9000), .integer(999_999), .string("test"), .string("::1"),
        .string("https://a.test"), .string("forwarded"), .string("required"), .string("open"),
        .string("local_part"), .string("minimal"), .string("proxy"), .string("cyrus"),
        .string("ES256"), .string("-"), .string("/x"),
        .string("/x/{accountId}"),
        .string("/x/{accountId}/{blobId}/{name}/{type}"), .string("/x/{types}/{closeafter}/{ping}"),
        .string("sqlite:other.db"), .string("00112233445566778899"), .string("other.example"),
        .string("unix:/s"), .string("0600"), .list([.string("imap=127.0.0.1:143")]),
        .list([.string("192.0.2.1")]), .list([.string("a.test")]), .list([.integer(81)]),
        .string("tls"), .string("a@b.test"), .string("sse2"), .string("errors"), .string("jmap"),
        .integer(1 << 30),
        .list([.table(["address": .string("127.0.0.1:443")])]),
        .list([.table(["certificate": .string("/c"), "key": .string("/k")])]),
        .list([
            .table([
                "name": .string("a"), "issuer": .string("github"), "client_id": .string("a"),
                "secret_file": .string("/s"),
            ])
        ]),
    ]

    @Test func everySettingChangesAFieldOfItsOwn() throws {
        let defaults = Config()
        for setting in Config.settings {
            let changed = Self.samples.compactMap { sample -> Config? in
                var config = defaults
                guard setting.assign(sample, &config) else { return nil }
                return setting.show(config) == setting.show(defaults) ? nil : config
            }
            let config = try #require(changed.first, "no sample changes \(setting.key)")
            for other in Config.settings where other.key != setting.key {
                #expect(other.show(config) == other.show(defaults), "\(setting.key) \(other.key)")
            }
        }
    }

    /// A field without a setting would be a value that no operator can change.
    @Test func everyFieldHasASetting() {
        let config = Config()
        let sections: [(name: String, fields: Any, withoutSetting: Set<String>)] = [
            ("server", config.server, ["engine", "proxies"]),
            ("server", config.server.proxies, []), ("tls", config.tls, []),
            // Set by the engine itself, by the program from the public URL, and a share.
            (
                "server", config.server.engine,
                [
                    "retryAfter", "headers", "secureHeaders", "maxConnectionsPerSite",
                    "bufferBytesPerSite",
                ]
            ),
            ("storage", config.storage, []), ("pow", config.pow, []),
            ("mail", config.mail, ["jmapSession", "jmapLimits"]),
            ("mail", config.mail.jmapSession, []), ("mail", config.mail.jmapLimits, []),
            ("tokens", config.tokens, []), ("keys", config.keys, []),
            ("passwords", config.passwords, []),
            ("accounts", config.accounts, []), ("users", config.users, []),
            ("limits", config.limits, []), ("hash_login", config.hashLogin, []),
            ("dns", config.dns, []), ("audit", config.audit, []),
            ("log", config.log, []),
            ("services", config.services, []), ("provisioning", config.provisioning, []),
            ("webhooks", config.webhooks, []), ("mailer", config.mailer, []),
            ("testing", config.testing, []),
        ]
        #expect(Mirror(reflecting: config).children.count == Set(sections.map(\.name)).count + 1)
        for name in Set(sections.map(\.name)) {
            let fields = sections.filter { $0.name == name }.flatMap { section in
                Mirror(reflecting: section.fields).children.compactMap(\.label)
                    .filter { !section.withoutSetting.contains($0) }
            }
            let keys = Config.settings.map(\.key).filter { $0.hasPrefix("\(name).") }
            #expect(fields.count == keys.count, "\(name): \(fields) \(keys)")
        }
    }

    /// An optional setting must not take a value that it cannot read for "no value": an unreadable
    /// `storage.url` would silently use another database.
    @Test func aValueThatCannotBeReadIsAFaultForEverySetting() {
        for setting in Config.settings {
            for raw in [RawValue.other("date"), .list([.boolean(true)]), .number(.nan)] {
                var config = Config()
                #expect(!setting.assign(raw, &config), "\(setting.key) takes \(raw)")
            }
        }
    }

    @Test(arguments: ["postgresql:h/d", "sqlit:x", "", "sqlite:", "sqlite::mem:", "a.db"])
    func aStorageURLThatCannotBeReadIsAFaultThatNamesTheAcceptedOnes(text: String) {
        let expected =
            "\"\(text)\" is not accepted; expected \"sqlite:<path>\", "
            + "\"sqlite::memory:\" or \"postgresql://<host>/<database>\""
        #expect(
            faults(loader(file: "storage.url = \"\(text)\""))
                == ["config/postern.toml:1: storage.url: \(expected)"])
        #expect(
            faults(loader(environment: ["POSTERN_STORAGE_URL": text]))
                == ["POSTERN_STORAGE_URL: storage.url: \(expected)"])
    }

    @Test func thePasswordOfADatabaseIsNotShown() throws {
        let secret = String(repeating: "s3cret", count: 60)
        for text in ["postgres//u:\(secret)@h/d", "postgresql:u:\(secret)@h", "u:\(secret)@h"] {
            let shown = faults(loader(file: "storage.url = \"\(text)\"")).joined()
            #expect(shown.contains("storage.url") && !shown.contains("s3cret"))
        }
        let url = "postgresql://u:\(secret)@h/d?sslpassword=\(secret)"
        let loaded = try loader(file: "storage.url = \"\(url)\"").load()
        #expect(loaded.listing.contains("postgresql://u:***@h/d?sslpassword=***"))
        #expect(!loaded.listing.contains("s3cret"))
    }

    @Test(arguments: [
        ("server.public_url", "auth.example.com"), ("mail.exchanger", "-"),
        ("mail.jmap_url", "ftp://a.test"), ("mail.jmap_store_url", ""), ("mail.jmap_ca_file", ""),
        ("hash_login.issuer", ""), ("hash_login.ca_file", ""),
        ("services.listen", "8081"), ("services.socket_owner", ":"), ("services.secret_file", ""),
        ("provisioning.url", "ftp://a.test"), ("provisioning.secret_file", ""),
        ("provisioning.ca_file", ""),
    ])
    func anOptionalSettingThatCannotBeReadIsAFault(key: String, text: String) {
        #expect(faults(loader(file: "\(key) = \"\(text)\"")).count == 1)
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

    @Test func productionFetchesOnlyOverHTTPSFromPublicAddresses() {
        let production = """
            profile = "production"
            server.public_url = "https://auth.example.com"
            hash_login.issuer = "https://auth.example.com"

            """
        for key in ["hash_login.allow_http", "hash_login.allow_private_networks"] {
            #expect(
                faults(loader(file: production + "\(key) = true")) == [
                    "config/postern.toml:4: \(key): is not allowed in the production profile; "
                        + "remove it, or use the development profile for tests"
                ])
            #expect(faults(loader(file: production + "\(key) = false")).isEmpty)
            #expect(faults(loader(file: "\(key) = true")).isEmpty)
        }
    }

    /// Otherwise the time of an answer would show that a host is slow.
    @Test func aFailureFloorNotLongerThanTheFetchIsAFault() {
        for (floor, timeout, isFault) in [
            ("2s", "2s", true), ("1s", "2s", true), ("2001ms", "2s", false),
        ] {
            let found = faults(
                loader(
                    file: "[hash_login]\nfailure_floor = \"\(floor)\"\n"
                        + "login_timeout = \"\(timeout)\""))
            #expect(
                found.map { $0.contains("hash_login.failure_floor: ") } == (isFault ? [true] : [])
            )
        }
    }

    /// Otherwise a single request could be answered 503.
    @Test(arguments: [(393_216, true), (393_215, false)])
    func theBufferLimitIsLargeEnoughForSomeRequests(bytes: Int, isAccepted: Bool) {
        let found = faults(loader(file: "[server]\nbuffer_limit = \(bytes)"))
        let fault = [
            "config/postern.toml:2: server.buffer_limit: is too small for four requests of the "
                + "largest size; raise it to 393216 or more, or lower server.body_limit"
        ]
        #expect(found == (isAccepted ? [] : fault))
    }

    @Test func theLimitsOfServedHashesAreNeverRaised() {
        for line in [
            "max_memory_kib = 65537", "max_iterations = 11", "max_parallelism = 5",
            "max_memory_passes = 196609", "max_salt_bytes = 65", "max_tag_bytes = 65",
            "max_salt_bytes = 7", "max_tag_bytes = 15",
        ] {
            #expect(faults(loader(file: "[hash_login]\n\(line)")).count == 1, "\(line)")
        }
    }

    @Test func aProfileNeverChangesAValueThatWasSet() throws {
        let loaded = try loader(
            file: "[pow]\nagent_difficulty = 4", flags: [("profile", "--profile", "test")]
        ).load()
        #expect(loaded.config.pow.agentDifficulty == 4)
        #expect(loaded.config.pow.agentMaxDifficulty == 4)
    }

    @Test func theTestProfileHasALowDifficultyAndADatabaseInMemory() throws {
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

    @Test func aMaximumBelowTheDifficultyIsAFaultOnlyWhenItWasSet() throws {
        let raised = try loader(file: "[pow]\nagent_difficulty = 12").load()
        #expect(raised.config.pow.agentMaxDifficulty == 12)
        #expect(
            faults(loader(file: "[pow]\nagent_max_difficulty = 3")) == [
                "config/postern.toml:2: pow.agent_max_difficulty: 3 is less than "
                    + "pow.agent_difficulty (6); raise it or lower pow.agent_difficulty"
            ])
    }

    /// Otherwise the server would start and answer every login 500.
    @Test func passwordSettingsThatArgon2CannotComputeAreFaults() throws {
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

    @Test func aRequiredProxyHeaderNeedsATrustedProxy() throws {
        let required = "server.proxy_protocol = \"required\"\n"
        #expect(faults(loader(file: required)).count == 1)
        let named = required + "server.trusted_proxies = [\"10.0.0.0/8\"]"
        #expect(try loader(file: named).load().config.server.proxies.proxyProtocol == .required)
        #expect(faults(loader(file: "server.proxy_protocol = \"on\"")).count == 1)
    }

    @Test func aDomainNamedTwiceIsAFault() {
        #expect(faults(loader(file: "[mail]\ndomains = [\"a.test\", \"A.TEST\"]")).count == 1)
    }

    @Test func outsideProductionThePublicURLFollowsThePort() {
        #expect(Config().publicURL(port: 8123)?.text == "http://127.0.0.1:8123")
    }
}
