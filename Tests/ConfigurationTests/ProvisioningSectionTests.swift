import Testing

@testable import Configuration
@testable import Platform

@Suite struct ProvisioningSectionTests {
    private func load(_ variables: [String: String]) throws -> LoadedConfig {
        let named = variables.map { ("POSTERN_\($0.key)", $0.value) }
        let loader = ConfigLoader(
            path: nil, environment: Dictionary(uniqueKeysWithValues: named),
            readFile: { _ throws(FileError) in throw .missing })
        return try loader.load()
    }

    private func faults(_ variables: [String: String]) -> [String] {
        do {
            _ = try load(variables)
            return []
        } catch let error as ConfigFaults {
            return error.faults.map(\.key)
        } catch {
            return ["\(error)"]
        }
    }

    @Test(arguments: [
        "https://a.example/events?x=1", "http://127.0.0.1:8099/", "http://localhost:8099/a",
        "http://[::1]:1/", "http://10.0.0.7/", "https://provisioner/",
    ])
    func aReceiverMayBeAnywhere(text: String) throws {
        let config = try load(["PROVISIONING_URL": text, "PROVISIONING_SECRET_FILE": "/s"]).config
        #expect(config.provisioning.url?.text == text)
    }

    @Test(arguments: [
        "", "ftp://a.example/", "a.example", "https://u:p@a.example/", "https://a.example/#b",
        "https://a b/", "http://127.1/", "unix:/s",
    ])
    func anythingElseIsAFault(text: String) {
        #expect(
            faults(["PROVISIONING_URL": text, "PROVISIONING_SECRET_FILE": "/s"])
                == ["provisioning.url"])
    }

    @Test func aReceiverNeedsASecret() {
        #expect(
            faults(["PROVISIONING_URL": "https://a.example/"]) == ["provisioning.secret_file"])
        #expect(faults(["PROVISIONING_SECRET_FILE": "/s"]).isEmpty)
    }

    @Test(arguments: [("0", false), ("1", true), ("64", true), ("65", false)])
    func theEventsInFlightAreBounded(text: String, isAccepted: Bool) {
        #expect(faults(["PROVISIONING_IN_FLIGHT": text]).isEmpty == isAccepted)
    }

    @Test(arguments: [
        ("https://a.example/", false), ("http://a.example/", true), ("http://10.0.0.7/", true),
        ("http://127.0.0.1/", false), ("http://localhost/", false), ("http://[::1]/", false),
    ])
    func productionWarnsWhereEventsCanBeReadOnTheWay(text: String, isWarned: Bool) throws {
        let loaded = try load([
            "PROFILE": "production", "SERVER_PUBLIC_URL": "https://a.example",
            "HASH_LOGIN_ISSUER": "a", "PROVISIONING_URL": text, "PROVISIONING_SECRET_FILE": "/s",
        ])
        #expect(loaded.warnings.map(\.key) == (isWarned ? ["provisioning.url"] : []))
    }
}
