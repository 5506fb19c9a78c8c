import HTTPEngine
import Testing

@testable import Configuration
@testable import Platform

/// A loader that reads only these files.
func loader(
    file: String? = nil, files: [String: String] = [:], environment: [String: String] = [:],
    flags: [(String, String, String)] = [], path: String? = nil
) -> ConfigLoader {
    var files = files
    if let file { files[path ?? ConfigFile.standardPath] = file }
    return ConfigLoader(
        path: path, environment: environment,
        flags: flags.map { ConfigLoader.Flag(key: $0.0, name: $0.1, value: $0.2) },
        readFile: { [files] path throws(FileError) in
            guard let text = files[path] else { throw .missing }
            return text
        })
}

/// The faults of a configuration; none when it is valid.
func faults(_ loader: ConfigLoader) -> [String] {
    do throws(ConfigFaults) {
        _ = try loader.load()
        return []
    } catch {
        return error.faults.map(\.shown)
    }
}

@Suite struct ConfigLoaderTests {
    @Test func withoutASourceTheDefaultsApply() throws {
        let loaded = try loader().load()
        #expect(loaded.config.server.port == 8080)
        #expect(loaded.config.profile == .development)
        #expect(loaded.sources.isEmpty)
    }

    @Test func theCommandLineOverridesTheEnvironmentOverridesTheFile() throws {
        let file = """
            [server]
            port = 1
            backlog = 1
            loops = 1
            """
        let loaded = try loader(
            file: file,
            environment: ["POSTERN_SERVER_PORT": "2", "POSTERN_SERVER_BACKLOG": "2"],
            flags: [("server.port", "--port", "3")]
        ).load()
        #expect(loaded.config.server.port == 3)
        #expect(loaded.config.server.engine.backlog == 2)
        #expect(loaded.config.server.engine.loops == 1)
        #expect(loaded.config.server.engine.headerCount == 100)
        #expect(loaded.sources["server.port"] == .flag("--port"))
        #expect(loaded.sources["server.backlog"] == .variable("POSTERN_SERVER_BACKLOG"))
        #expect(loaded.sources["server.loops"] == .file(path: "config/postern.toml", line: 4))
    }

    @Test func onlyTheStandardFileMayBeMissing() throws {
        _ = try loader().load()
        #expect(
            faults(loader(path: "no.toml")) == [
                "no.toml: file: cannot be read: no such file; name a readable file with --config"
            ])
    }

    @Test func allFaultsOfAllSourcesAreReportedAtOnce() {
        let file = """
            [server]
            port = 99999
            hots = "::"
            """
        let found = faults(
            loader(
                file: file,
                environment: [
                    "POSTERN_SERVER_PRT": "1", "POSTERN_POW_AGENT_DIFFICULTY": "+5",
                    "POSTERN_PROFILE": "production",
                ],
                flags: [("server.host", "--host", "example.com")]))
        #expect(
            found == [
                "config/postern.toml:3: server.hots: no such setting; did you mean server.host?",
                "POSTERN_SERVER_PRT: no such setting; did you mean POSTERN_SERVER_PORT?",
                "config/postern.toml:2: server.port: 99999 is not accepted; "
                    + "expected a whole number from 0 to 65535",
                "POSTERN_POW_AGENT_DIFFICULTY: pow.agent_difficulty: \"+5\" is not accepted; "
                    + "expected a whole number from 1 to 24",
                "--host: server.host: \"example.com\" is not accepted; "
                    + "expected an IPv4 or IPv6 address, or \"*\" for all addresses of both",
                "server.public_url: is required in the production profile; set it to the URL that "
                    + "clients use for this server, such as \"https://auth.example.com\"",
                "hash_login.issuer: is required in the production profile; set it, or JWT_ISSUER, "
                    + "to the `iss` that verifiers of login tokens expect",
            ])
    }

    @Test func aBadValueIsAFaultEvenWhereAnotherSourceOverridesIt() {
        let found = faults(
            loader(file: "[server]\nport = -1", environment: ["POSTERN_SERVER_PORT": "80"]))
        #expect(found.count == 1)
    }

    @Test(arguments: [
        ("cyrus", "ES256", #"use "RS256""#), ("cyrus", "EdDSA", #"use "RS256""#),
        ("dovecot", "EdDSA", #"use "RS256" or "ES256""#),
    ])
    func anAlgorithmThatTheMailStoreOfTheKeyFilesDoesNotVerifyIsAFault(
        layout: String, algorithm: String, remedy: String
    ) throws {
        var settings = [
            "POSTERN_TOKENS_CAPABILITY_ALGORITHM": algorithm,
            "POSTERN_KEYS_EXPORT_LAYOUT": layout, "POSTERN_KEYS_EXPORT_DIRECTORY": "/etc/keys",
        ]
        let found = faults(loader(environment: settings))
        #expect(found.count == 1 && found[0].contains("does not verify \(algorithm)"))
        #expect(found.first?.contains(remedy) == true)
        settings["POSTERN_KEYS_EXPORT_DIRECTORY"] = nil
        #expect(faults(loader(environment: settings)).isEmpty)
        settings["POSTERN_KEYS_EXPORT_DIRECTORY"] = "/etc/keys"
        settings["POSTERN_KEYS_EXPORT_LAYOUT"] = "pem"
        #expect(faults(loader(environment: settings)).isEmpty)
    }

    @Test func theProfileComesFromTheSourceWithTheHighestPriority() throws {
        let loaded = try loader(
            file: "profile = \"production\"", environment: ["POSTERN_PROFILE": "development"],
            flags: [("profile", "--profile", "test")]
        ).load()
        #expect(loaded.config.profile == .test)
    }
}
