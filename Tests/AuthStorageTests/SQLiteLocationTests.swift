import AuthStorage
import Testing

@Suite struct SQLiteLocationTests {
    @Test func theSettingNamesAFileOrMemory() {
        #expect(SQLiteLocation(url: "sqlite::memory:") == .memory)
        #expect(SQLiteLocation(url: "sqlite:data/postern.db") == .file("data/postern.db"))
        #expect(SQLiteLocation(url: "sqlite:/var/lib/a b.db") == .file("/var/lib/a b.db"))
    }

    @Test(arguments: ["", "sqlite", "sqlite:", "postgres://x", "data/postern.db", "sqlite:a\0b"])
    func anythingElseIsNoLocation(url: String) {
        #expect(SQLiteLocation(url: url) == nil)
    }
}
