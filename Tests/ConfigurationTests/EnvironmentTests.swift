import AuthCore
import HTTPEngine
import Testing

@testable import Configuration

@Suite struct EnvironmentTests {
    @Test func aVariableNamesItsSetting() throws {
        let loaded = try loader(environment: [
            "POSTERN_SERVER_PUBLIC_URL": "https://a.test", "POSTERN_MAIL_DOMAINS": "a.test,b.test",
            "POSTERN_TOKENS_CAPABILITY_KEY_ID": "false", "HOME": "/root",
        ]).load()
        #expect(loaded.config.server.publicURL?.text == "https://a.test")
        #expect(loaded.config.mail.domains.map(\.text) == ["a.test", "b.test"])
        #expect(!loaded.config.tokens.capabilityKeyID)
    }

    @Test func aFileVariableNamesTheFileThatHoldsTheValue() throws {
        let loaded = try loader(
            files: ["/run/port": "81\n"], environment: ["POSTERN_SERVER_PORT_FILE": "/run/port"]
        ).load()
        #expect(loaded.config.server.port == 81)
    }

    @Test func aValueFromAFileIsNeverShown() throws {
        let environment = ["POSTERN_POW_AGENT_SALT_FILE": "/run/salt"]
        let bad = faults(loader(files: ["/run/salt": "hunter2"], environment: environment))
        #expect(bad.count == 1)
        #expect(!bad.joined().contains("hunter2"))
        let good = try loader(
            files: ["/run/salt": "00112233445566778899"], environment: environment
        ).load()
        #expect(good.config.pow.agentSalt == "00112233445566778899")
        #expect(!good.listing.contains("00112233445566778899"))
        #expect(good.listing.contains("redacted, from POSTERN_POW_AGENT_SALT_FILE (/run/salt)"))
    }

    @Test func aMissingFileIsAFault() {
        #expect(
            faults(loader(environment: ["POSTERN_SERVER_PORT_FILE": "/no"])) == [
                "POSTERN_SERVER_PORT_FILE (/no): server.port: cannot be read: no such file; "
                    + "give a readable file"
            ])
    }

    @Test func aVariableAndItsFileAreNotGivenTogether() {
        let found = faults(
            loader(
                files: ["/p": "1"],
                environment: ["POSTERN_SERVER_PORT": "1", "POSTERN_SERVER_PORT_FILE": "/p"]))
        #expect(found.count == 1)
        #expect(found.first?.contains("is also set by POSTERN_SERVER_PORT") == true)
    }

    @Test func theVariableOfTheMasterSecretIsKnown() throws {
        _ = try loader(environment: ["POSTERN_MASTER_SECRET_FILE": "/x"]).load()
    }

    @Test func onlyUnknownVariablesWithOurPrefixAreFaults() {
        #expect(faults(loader(environment: ["POSTERNISH": "1", "PATH": "/bin"])).isEmpty)
        #expect(faults(loader(environment: ["POSTERN_": "1", "POSTERN_XYZZY": "1"])).count == 2)
    }

    /// Kubernetes and Docker set these beside a service or a linked container named `postern`.
    @Test func variablesThatContainerPlatformsInjectAreIgnored() throws {
        let loaded = try loader(environment: [
            "POSTERN_PORT": "tcp://10.0.0.7:8080", "POSTERN_PORT_8080_TCP": "tcp://10.0.0.7:8080",
            "POSTERN_PORT_8080_TCP_ADDR": "10.0.0.7", "POSTERN_PORT_8080_TCP_PORT": "8080",
            "POSTERN_PORT_8080_TCP_PROTO": "tcp", "POSTERN_SERVICE_HOST": "10.0.0.7",
            "POSTERN_SERVICE_PORT": "8080", "POSTERN_SERVICE_PORT_HTTP": "8080",
        ]).load()
        #expect(loaded.sources.isEmpty)
    }

    @Test(arguments: ["POSTERN_PORTS", "POSTERN_SERVICE", "POSTERN_SERVICES_PORT", "POSTERN_HOST"])
    func variablesLikeTheInjectedOnesAreFaults(name: String) {
        #expect(faults(loader(environment: [name: "tcp://10.0.0.7:8080"])).count == 1)
    }
}
