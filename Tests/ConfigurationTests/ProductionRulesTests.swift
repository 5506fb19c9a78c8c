import Testing

@testable import Configuration
@testable import Platform

/// What the production profile refuses, and what it warns about.
@Suite struct ProductionRulesTests {
    private func loader(_ lines: String..., url: String = "https://auth.test") -> ConfigLoader {
        let text =
            "profile = \"production\"\nserver.public_url = \"\(url)\"\n"
            + "hash_login.issuer = \"https://auth.test\"\n" + lines.joined(separator: "\n")
        return ConfigLoader(readFile: { _ throws(FileError) in text })
    }

    private func keys(_ loader: ConfigLoader) -> [String] {
        do {
            _ = try loader.load()
            return []
        } catch {
            return error.faults.map(\.key)
        }
    }

    @Test(arguments: [
        ("https://auth.test", true), ("http://auth.test", false), ("http://127.0.0.1:8080", true),
        ("http://127.9.9.9", true), ("http://[::1]:8080/base", true), ("http://localhost", true),
        ("http://localhost.auth.test", false), ("http://10.0.0.1", false),
        ("http://128.0.0.1", false), ("http://[::2]", false),
    ])
    func thePublicURLIsHTTPSUnlessItIsThisMachine(url: String, isAccepted: Bool) {
        #expect(keys(loader(url: url)) == (isAccepted ? [] : ["server.public_url"]))
    }

    @Test(arguments: [
        (19_456, 2, true), (47_104, 1, true), (12_288, 3, true), (9_216, 4, true), (7_168, 5, true),
        (65_536, 5, true), (19_455, 2, false), (19_456, 1, false), (47_103, 1, false),
        (12_287, 3, false), (9_215, 4, false), (7_167, 64, false), (8, 1, false),
    ])
    func aCheapArgon2IsRefused(memory: Int, passes: Int, isAccepted: Bool) {
        let found = keys(
            loader("[passwords]", "memory_kib = \(memory)", "iterations = \(passes)"))
        #expect(found == (isAccepted ? [] : ["passwords.memory_kib"]))
    }

    @Test(arguments: [("30d", true), ("2592001s", false), ("365d", false)])
    func aTokenOfMoreThanThirtyDaysIsRefused(lifetime: String, isAccepted: Bool) {
        let found = keys(loader("[tokens]", "account_lifetime = \"\(lifetime)\""))
        #expect(found == (isAccepted ? [] : ["tokens.account_lifetime"]))
    }

    @Test func limitsThatAreOffAreAWarning() throws {
        let off = try loader("[limits]", "enabled = false").load()
        #expect(off.warnings.map(\.key) == ["limits.enabled"])
        #expect(try loader().load().warnings.isEmpty)
    }

    @Test func aDatabaseServerThatIsNotVerifiedIsAWarning() throws {
        let plain = try loader("[storage]", "url = \"postgresql://db.example/d\"").load()
        #expect(plain.warnings.map(\.key) == ["storage.url"])
        let verified = "url = \"postgresql://db.example/d?sslmode=verify-full\""
        #expect(try loader("[storage]", verified).load().warnings.isEmpty)
    }

    @Test(arguments: ["development", "test"])
    func otherProfilesAllowAllOfIt(profile: String) throws {
        let text = """
            profile = "\(profile)"
            server.public_url = "http://auth.test"
            passwords.memory_kib = 8
            tokens.account_lifetime = "365d"
            limits.enabled = false
            """
        let loaded = try ConfigLoader(readFile: { _ throws(FileError) in text }).load()
        #expect(loaded.warnings.isEmpty)
    }
}
