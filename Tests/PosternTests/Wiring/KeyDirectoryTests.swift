import AuthCore
import Glibc
import TestPrimitives
import Testing

@testable import Platform
@testable import postern

/// A directory of public keys that a mail store reads.
@Suite struct KeyDirectoryTests {
    private let scratch = Scratch()
    private var path: String { "\(scratch.path)/keys" }
    private var directory: KeyDirectory { KeyDirectory(path: path, use: .capability) }

    private func content(_ name: String) -> String? {
        try? File.text(at: "\(path)/\(name)", atMost: 1000)
    }

    private func files(_ names: String...) -> KeyDirectory.Files {
        Dictionary(uniqueKeysWithValues: names.map { ($0, Array("key \($0)".utf8)) })
    }

    /// Without the bookkeeping.
    private var names: [String] {
        guard let entries = opendir(path) else { return [] }
        defer { closedir(entries) }
        var found: [String] = []
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { found.append(name) }
        }
        return found.sorted()
    }

    /// `Scratch` removes one level only.
    private func removeAll() {
        for name in [
            "default/RS256/a", "default/RS256", "default", ".postern/capability",
            ".postern/login", ".postern",
        ] + names {
            unlink("\(path)/\(name)")
            rmdir("\(path)/\(name)")
        }
    }

    @Test func filesAreMadeForAllUsersToRead() throws {
        defer { removeAll() }
        let before = umask(0o077)
        defer { umask(before) }
        let changes = try directory.write(files("a.pem", "default/RS256/a"))
        #expect(changes.written == ["a.pem", "default/RS256/a"] && changes.removed.isEmpty)
        #expect(content("a.pem") == "key a.pem")
        #expect(content("default/RS256/a") == "key default/RS256/a")
        for name in ["", "/default", "/default/RS256"] {
            #expect(Scratch.mode(of: path + name) == 0o755)
        }
        for name in ["/a.pem", "/default/RS256/a"] {
            #expect(Scratch.mode(of: path + name) == 0o644)
        }
        // Cyrus IMAP would read a temporary file.
        #expect(names == ["a.pem", "default"])
    }

    @Test func onlyFilesThatWereWrittenHereAreRemoved() throws {
        defer { removeAll() }
        _ = try directory.write(files("a.pem", "b.pem"))
        try File.create("\(path)/other.pem", content: Array("theirs".utf8))
        #expect(try directory.write(files("a.pem", "b.pem")).isEmpty)
        let changes = try directory.write(files("b.pem", "c.pem"))
        #expect(changes == .init(written: ["c.pem"], removed: ["a.pem"]))
        #expect(names == ["b.pem", "c.pem", "other.pem"])
        #expect(try directory.write([:]).removed == ["b.pem", "c.pem"])
        #expect(content("other.pem") == "theirs")
    }

    @Test func aFileOfOurOwnIsReplacedAndOneOfOthersIsAnError() throws {
        defer { removeAll() }
        _ = try directory.write(["key.pem": [1]])
        #expect(try directory.write(["key.pem": [2]]).written == ["key.pem"])
        #expect(try directory.write(["key.pem": [2]]).isEmpty)
        // Changed by somebody else: it is theirs now, also when it is not needed any more.
        try File.replace("\(path)/key.pem", content: [3])
        #expect(throws: KeyDirectoryError.notOurs("\(path)/key.pem")) {
            _ = try directory.write(["key.pem": [4]])
        }
        #expect(try directory.write([:]).isEmpty)
        #expect(names == ["key.pem"])
        // A file that is what it should be stays theirs.
        #expect(try directory.write(["key.pem": [3]]).isEmpty)
        #expect(try directory.write([:]).isEmpty)
        #expect(names == ["key.pem"])
    }

    @Test func aFileThatWasRemovedIsMadeAgain() throws {
        defer { removeAll() }
        _ = try directory.write(files("a.pem"))
        unlink("\(path)/a.pem")
        #expect(try directory.write(files("a.pem")).written == ["a.pem"])
    }

    /// After a crash the list may name files that were not written, or not removed.
    @Test func aCallThatWasInterruptedIsCompleted() throws {
        defer { removeAll() }
        _ = try directory.write(files("a.pem", "b.pem"))
        let list = "\(path)/.postern/capability"
        let both = try File.bytes(at: list, atMost: 1000)
        _ = try directory.write(files("b.pem"))
        try File.replace(list, content: both)
        try File.create("\(path)/a.pem", content: Array("key a.pem".utf8))
        #expect(try directory.write(files("b.pem", "c.pem")).removed == ["a.pem"])
        #expect(names == ["b.pem", "c.pem"])
    }

    @Test func theKeysOfTwoUsesMayShareADirectory() throws {
        defer { removeAll() }
        _ = try directory.write(files("a.pem"))
        let other = KeyDirectory(path: path, use: .login)
        _ = try other.write(files("b.pem"))
        #expect(try directory.write(files("c.pem")).removed == ["a.pem"])
        #expect(names == ["b.pem", "c.pem"])
    }

    @Test func linksAreNotFollowed() throws {
        defer { removeAll() }
        _ = try directory.write(files("a.pem"))
        try File.create("\(scratch.path)/theirs", content: Array("key a.pem".utf8))
        unlink("\(path)/a.pem")
        #expect(symlink("\(scratch.path)/theirs", "\(path)/a.pem") == 0)
        #expect(throws: KeyDirectoryError.notOurs("\(path)/a.pem")) {
            _ = try directory.write(files("a.pem"))
        }
        #expect(try directory.write([:]).isEmpty)
        #expect(names == ["a.pem"])
    }

    @Test(arguments: [
        "x", "0123  a.pem", String(repeating: "0", count: 64) + "  ../../etc/passwd",
        String(repeating: "0", count: 64) + "  .postern/capability",
        String(repeating: "0", count: 64) + " a.pem",
        String(repeating: "g", count: 64) + "  a.pem",
    ])
    func aDamagedListIsAnErrorAndNothingIsChanged(line: String) throws {
        defer { removeAll() }
        _ = try directory.write(files("a.pem"))
        try File.replace("\(path)/.postern/capability", content: Array("\(line)\n".utf8))
        #expect(throws: KeyDirectoryError.damagedList("\(path)/.postern/capability")) {
            _ = try directory.write(files("b.pem"))
        }
        #expect(names == ["a.pem"])
    }

    @Test func aDirectoryThatAnotherProcessWritesToIsInUse() throws {
        defer { removeAll() }
        _ = try directory.write(files("a.pem"))
        let held = open("\(path)/.postern", O_RDONLY | O_DIRECTORY)
        #expect(flock(held, LOCK_EX) == 0)
        var impatient = directory
        impatient.lockAttempts = 1
        #expect(throws: KeyDirectoryError.inUse(path)) { _ = try impatient.write([:]) }
        close(held)
        #expect(try directory.write([:]).removed == ["a.pem"])
    }

    @Test func aDirectoryWhoseParentIsMissingIsNotMade() {
        let misspelt = KeyDirectory(path: "\(scratch.path)/no/such", use: .capability)
        #expect(throws: KeyDirectoryError.file("\(scratch.path)/no/such", .missing)) {
            _ = try misspelt.write([:])
        }
        #expect(scratch.names.isEmpty)
    }

    @Test func otherFilesWithPublicKeysAreFound() throws {
        defer { removeAll() }
        let ours: KeyDirectory.Files = ["a.pem": Array("-----BEGIN PUBLIC KEY-----".utf8)]
        _ = try directory.write(ours)
        #expect(directory.otherKeys(beside: ours).isEmpty)
        try File.create("\(path)/notes", content: Array("nothing".utf8))
        try File.create("\(path)/old", content: Array("-----BEGIN PUBLIC KEY-----\nx".utf8))
        #expect(directory.otherKeys(beside: ours) == ["old"])
    }
}
