import Glibc
import Testing

@testable import AuthStorage

@Suite struct StorageErrorTests {
    @Test(arguments: [
        (13, "free some space"), (1544, "must be able to write"), (14, "its directory"),
        (11, "restore a backup"), (778, "failed to read or write"), (1, "SQL logic error"),
    ])
    func errorsThatAnOperatorCanFixAreExplained(code: Int32, words: String) {
        let text = StorageError.failed(statement: "commit", code: .sqlite(code)).description
        #expect(text.contains(words))
        #expect(text.contains("'commit'") && text.contains("\(code)"))
    }

    @Test func damageIsToldFromOtherErrors() {
        let damage: [StorageError] = [
            .failed(statement: "s", code: .sqlite(11)), .failed(statement: "s", code: .sqlite(267)),
            .failed(statement: "s", code: .sqlite(26)), .unopened(path: "p", code: 26),
            .failed(statement: "s", code: .sqlState("XX001")), .unreadable(column: "c"),
        ]
        for error in damage { #expect(error.isDamage, "\(error)") }
        let others: [StorageError] = [
            .failed(statement: "s", code: .sqlite(1)), .failed(statement: "s", code: .sqlite(778)),
            .failed(statement: "s", code: .sqlState("53100")), .unopened(path: "p", code: 14),
            .inaccessible(path: "p", code: EACCES), .unresponsive(after: .zero), .closed,
        ]
        for error in others { #expect(!error.isDamage, "\(error)") }
    }

    @Test func aDatabaseThatCannotBeOpenedIsNamed() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: StorageError.unopened(path: directory.path, code: 14)) {
            _ = try SQLiteConnection(path: directory.path, busyTimeout: .zero)
        }
        let text = StorageError.unopened(path: "/d/postern.db", code: 14).description
        #expect(text.hasPrefix("/d/postern.db cannot be opened: "))
        #expect(text.contains("read and write"))
    }

    @Test func anInaccessiblePathIsExplained() {
        let text = StorageError.inaccessible(path: "/d/postern.db", code: EACCES).description
        #expect(text == "/d/postern.db cannot be made or opened: Permission denied")
    }
}
