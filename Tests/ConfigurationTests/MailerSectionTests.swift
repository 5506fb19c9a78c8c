import Testing

@testable import Configuration
@testable import Platform

@Suite struct MailerSectionTests {
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

    private let relay = ["MAILER_HOST": "smtp.example.com", "MAILER_FROM": "p@example.com"]

    @Test(arguments: [("starttls", 587), ("tls", 465)])
    func thePortFollowsFromTheEncryption(tls: String, port: UInt16) throws {
        let mailer = try load(relay.merging(["MAILER_TLS": tls]) { $1 }).config.mailer
        #expect(mailer.effectivePort == port)
        let other = try load(relay.merging(["MAILER_PORT": "2525"]) { $1 }).config.mailer
        #expect(other.effectivePort == 2525)
    }

    @Test(arguments: ["Relay.Example.com", "localhost", "192.0.2.1", "2001:db8::1", "relay"])
    func aRelayIsANameOrAnAddress(host: String) throws {
        let mailer = try load(relay.merging(["MAILER_HOST": host]) { $1 }).config.mailer
        #expect(mailer.host == host.lowercased())
    }

    @Test(arguments: ["", "a b", "a/b", "a@b", "smtp://a", "[::1]", "a:25", "a\r\nb"])
    func anythingElseIsAFault(host: String) {
        #expect(faults(relay.merging(["MAILER_HOST": host]) { $1 }).contains("mailer.host"))
    }

    @Test func aRelayNeedsASender() {
        #expect(faults(["MAILER_HOST": "a.example"]) == ["mailer.from"])
    }

    @Test func anAccountNeedsAPasswordAndAPasswordAnAccount() {
        #expect(
            faults(relay.merging(["MAILER_ACCOUNT": "a"]) { $1 }) == ["mailer.password_file"])
        #expect(
            faults(relay.merging(["MAILER_PASSWORD_FILE": "/s"]) { $1 }) == ["mailer.account"])
        let both = ["MAILER_ACCOUNT": "a", "MAILER_PASSWORD_FILE": "/s"]
        #expect(faults(relay.merging(both) { $1 }).isEmpty)
    }

    @Test(arguments: [
        ("localhost", false), ("127.0.0.1", false), ("::1", false), ("10.0.0.1", true),
        ("smtp.example.com", true),
    ])
    func mailIsEncryptedUnlessTheRelayIsOnThisMachine(host: String, isRefused: Bool) throws {
        var variables = relay.merging(["MAILER_HOST": host, "MAILER_TLS": "none"]) { $1 }
        #expect(faults(variables) == (isRefused ? ["mailer.tls"] : []))
        variables["MAILER_ALLOW_UNENCRYPTED"] = "true"
        #expect(faults(variables).isEmpty)
        variables.merge([
            "PROFILE": "production", "SERVER_PUBLIC_URL": "https://auth.example.com",
            "HASH_LOGIN_ISSUER": "x",
        ]) { $1 }
        #expect(try load(variables).warnings.map(\.key).contains("mailer.tls") == isRefused)
    }

    @Test(arguments: [
        ("MAILER_PORT", "25"), ("MAILER_FROM", "a@b.test"), ("MAILER_CA_FILE", "/c"),
    ])
    func aSettingWithoutARelayIsAFault(name: String, value: String) {
        #expect(faults([name: value]).count == 1)
    }

    @Test func certificatesHaveNoUseWithoutTLS() {
        let variables = ["MAILER_HOST": "::1", "MAILER_TLS": "none", "MAILER_CA_FILE": "/c"]
        #expect(faults(relay.merging(variables) { $1 }) == ["mailer.ca_file"])
    }
}
