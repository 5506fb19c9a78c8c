import Testing

@testable import Configuration
@testable import Platform

/// Which addresses the test profile may listen on.
@Suite struct TestingSectionTests {
    private func load(_ lines: String...) throws(ConfigFaults) -> LoadedConfig {
        let text = lines.joined(separator: "\n")
        return try ConfigLoader(readFile: { _ throws(FileError) in text }).load()
    }

    @Test(arguments: ["127.0.0.1", "127.8.8.8", "::1"])
    func thisMachineMayConnect(host: String) throws {
        let loaded = try load("profile = \"test\"", "server.host = \"\(host)\"")
        #expect(loaded.warnings.isEmpty)
    }

    @Test(arguments: ["*", "0.0.0.0", "::", "192.0.2.1", "10.0.0.1"])
    func othersMayConnectOnlyWhereTheOperatorSaysSo(host: String) throws {
        let (test, host) = ("profile = \"test\"", "server.host = \"\(host)\"")
        do {
            _ = try load(test, host)
            Issue.record("accepted")
        } catch {
            #expect(error.faults.map(\.key) == ["server.host"])
        }
        let exposed = try load(test, host, "testing.exposed = true")
        #expect(exposed.warnings.map(\.key) == ["server.host"])
    }

    @Test func everyPublicListenerCounts() throws {
        let local = "server.listeners = [{ address = \"127.0.0.1:1\" }, { address = \"[::1]:2\" }"
        #expect(try load("profile = \"test\"", local + "]").warnings.isEmpty)
        let error = #expect(throws: ConfigFaults.self) {
            try load("profile = \"test\"", local + ", { address = \"*:3\" }]")
        }
        #expect(error?.faults.map(\.key) == ["server.listeners"])
    }

    @Test func otherProfilesAreNotConcerned() throws {
        #expect(try load("server.host = \"*\"").warnings.isEmpty)
    }
}
