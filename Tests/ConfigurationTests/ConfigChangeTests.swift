import AuthCore
import Testing

@testable import Configuration
@testable import Platform

@Suite struct ConfigChangeTests {
    private func change(
        _ old: ConfigLoader, _ new: ConfigLoader
    ) throws -> ConfigChange {
        try ConfigChange(from: try old.load(), to: try new.load())
    }

    @Test func aValueThatWasSetToItsDefaultIsNoChange() throws {
        let none = try change(loader(), loader(file: "server.port = 8080\nlog.access = \"all\""))
        #expect(none.applied.isEmpty && none.postponed.isEmpty)
    }

    /// A secret file and a password in a URL.
    @Test func noSecretIsShown() throws {
        let path = ["POSTERN_MAIL_DOMAINS_FILE": "/f"]
        let hidden = try change(
            loader(files: ["/f": "a.test"], environment: path),
            loader(files: ["/f": "b.test"], environment: path))
        #expect(hidden.applied == [.init(key: "mail.domains", old: "redacted", new: "redacted")])
        #expect(hidden.result.config.mail.domains.map(\.text) == ["b.test"])
        let shown = try change(
            loader(), loader(file: "storage.url = \"postgresql://u:s3cret@h/d\""))
        #expect(shown.postponed.map(\.new) == ["\"postgresql://u:***@h/d\"", "\"none\""])
    }

    @Test func aLongListIsCut() throws {
        let names = (0..<1000).map { "\"d\($0).test\"" }.joined(separator: ", ")
        let change = try change(loader(), loader(file: "mail.domains = [\(names)]"))
        #expect(change.applied.first?.new.count == 501)
        #expect(change.result.config.mail.domains.count == 1000)
    }

    @Test func eachSettingIsCopiedToItsOwnField() throws {
        for setting in Config.settings {
            var (config, test) = (Config(), Config(profile: .test))
            setting.copy(test, &config)
            #expect(setting.show(config) == setting.show(test), "\(setting.key)")
            setting.copy(Config(), &test)
            #expect(setting.show(test) == setting.show(Config()), "\(setting.key)")
        }
    }

    /// docs/operators.md names what SIGHUP changes: sections as a whole, and single settings.
    @Test func theOperatorsPageNamesWhatCanChange() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let page = try File.text(at: "/\(root)/docs/operators.md", atMost: 1_000_000)
        let row = try #require(
            page.split(separator: "\n").first { $0.hasPrefix("| SIGHUP changes |") })
        var named: Set<String> = []
        for name in row.split(separator: "`").map(String.init)
        where name.contains(".") && !name.contains(" ") {
            let keys = Config.settings.map(\.key)
            named.formUnion(
                name.hasSuffix(".*") ? keys.filter { $0.hasPrefix(name.dropLast()) } : [name])
        }
        // Its content is read again, its path is not.
        let excepted: Set<String> = [
            "limits.enabled", "passwords.argon2", "services.secret_file", "users.providers",
            "users.provider_timeout",
        ]
        #expect(
            named.subtracting(excepted) == Set(Config.settings.filter(\.isReloadable).map(\.key)))
    }
}
