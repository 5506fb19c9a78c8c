import Testing

@testable import Configuration
@testable import Platform

/// `config/postern.toml`, which documents every setting with its default.
@Suite struct ReferenceFileTests {
    private func text() throws -> String {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try File.text(at: "/\(root)/config/postern.toml", atMost: 1_000_000)
    }

    /// The file with the comment sign removed from the line of every setting.
    private func uncommented() throws -> String {
        try text().split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let name = line.dropFirst(2).prefix { $0.isLowercase || $0.isNumber || $0 == "_" }
            let isSetting =
                line.hasPrefix("# ") && !name.isEmpty
                && line.dropFirst(2 + name.count).hasPrefix(" = ")
            return isSetting ? String(line.dropFirst(2)) : String(line)
        }.joined(separator: "\n")
    }

    @Test func itsCommentedLinesChangeNothing() throws {
        let layer = ConfigFile.layer(of: try text(), path: "f")
        #expect(layer.faults.isEmpty)
        #expect(layer.entries.isEmpty)
    }

    @Test func itContainsExactlyTheSettings() throws {
        let layer = ConfigFile.layer(of: try uncommented(), path: "f")
        #expect(layer.faults.isEmpty)
        #expect(layer.entries.keys.sorted() == Config.settings.map(\.key).sorted())
    }

    @Test func itDocumentsTheDefaultOfEverySetting() throws {
        let layer = ConfigFile.layer(of: try uncommented(), path: "f")
        let defaults = Config().effective
        for setting in Config.settings {
            var written = Config()
            let raw = try #require(layer.entries[setting.key]?.raw)
            #expect(setting.assign(raw, &written), "\(setting.key)")
            // A setting without a default has an example.
            guard let standard = setting.show(defaults) else { continue }
            #expect(setting.show(written) == standard, "\(setting.key)")
        }
    }

    @Test func itsSettingsHaveTheOrderOfTheTable() throws {
        let lines = try uncommented().split(separator: "\n")
        let names = Config.settings.map { $0.key.split(separator: ".").last ?? "" }
        let written = lines.filter { !$0.hasPrefix("#") && $0.contains(" = ") }
            .map { $0.prefix { $0 != " " } }
        #expect(written == names)
    }
}
