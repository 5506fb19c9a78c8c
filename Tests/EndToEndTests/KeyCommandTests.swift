internal import Glibc
internal import StrictJSON
internal import Testing

/// Rotation and export of the signing keys, by hand and by a running server.
@ProgramQueue
struct KeyCommandTests {
    private func run(
        _ words: [String], in directory: TestDirectory
    ) throws -> (end: Program.End, output: String, errors: String) {
        let program = try Program(words + ["--data", directory.file("data")], in: directory)
        let end = try program.awaitEnd()
        return (end, program.standardOutput, program.log)
    }

    private func lines(_ words: String..., in directory: TestDirectory) throws -> [String] {
        let (end, output, errors) = try run(words, in: directory)
        #expect(end == .exited(0), "\(words): \(errors)")
        return output.split(separator: "\n").map(String.init)
    }

    private func names(in path: String) -> [String] {
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

    /// The key ids in the key set, the newest first.
    private func published(_ program: Program) throws -> [String] {
        let response = try Agent(program).call("GET", "/.well-known/jwks.json")
        guard case .array(let list)? = try response.json()["keys"] else {
            throw TestError("no keys: \(response.text)")
        }
        return list.compactMap { $0.object?["kid"]?.string }
    }

    private func wait(_ what: String, until isTrue: () throws -> Bool) throws {
        let deadline = Deadline()
        while try !isTrue() {
            guard deadline.milliseconds > 0 else { throw TestError("in vain: \(what)") }
            usleep(20_000)
        }
    }

    @Test func aRunningServerKeepsTheDirectoryUpToDateAndReportsTheSwitch() throws {
        let directory = try TestDirectory()
        let exported = directory.file("keys")
        let server = try Program.serveData(
            in: directory,
            [
                "POSTERN_KEYS_EXPORT_DIRECTORY": exported,
                "POSTERN_KEYS_EXPORT_LAYOUT": "dovecot",
            ])
        let files = exported + "/default/RS256"
        try wait("the first key") { names(in: files).count == 1 }
        let first = try published(server)
        #expect(names(in: files) == first)

        let rotated = try lines("key", "rotate", "--use", "capability", in: directory)
        #expect(rotated.count == 1 && rotated[0].contains("  published, signs from 20"))
        try wait("two keys") { names(in: files).count == 2 }
        #expect(try names(in: files) == published(server).sorted())
        let listed = try lines("key", "list", in: directory)
            .filter { $0.hasPrefix("capability") }
        #expect(listed.count == 2)
        #expect(listed[0].contains("  published, signs from 20"))
        #expect(listed[1].contains(first[0]) && listed[1].contains("  signs until 20"))
        let again = try run(["key", "rotate", "--use", "capability"], in: directory)
        #expect(again.end == .exited(1) && again.errors.contains("is published and signs from"))

        _ = try lines("key", "rotate", "--use", "capability", "--leaked", in: directory)
        try wait("one key") { names(in: files).count == 1 }
        let last = try published(server)
        #expect(names(in: files) == last && !first.contains(last[0]))
        try wait("the report") { server.log.contains("signing_key_changed") }
        let report = server.log.split(separator: "\n").first { $0.contains("signing_key_changed") }
        #expect(report?.contains("\"message\":\"security event\"") == true)
        #expect(report?.contains("capability \(last[0])") == true)
        #expect(try server.stop() == .exited(0))
    }

    @Test func aDirectoryThatCannotBeWrittenIsLoggedAndTheServerGoesOn() throws {
        let directory = try TestDirectory()
        try directory.write("not a directory", to: "keys")
        let server = try Program.serveData(
            in: directory, ["POSTERN_KEYS_EXPORT_DIRECTORY": directory.file("keys")])
        try wait("the error") { server.log.contains("export keys") }
        #expect(server.log.contains("cannot be used for public keys"))
        #expect(try Agent(server).call("GET", "/readyz").status == 200)
        #expect(unlink(directory.file("keys")) == 0)
        try wait("the key") { names(in: directory.file("keys")).count == 1 }
        #expect(try server.stop() == .exited(0))
    }

    @Test func theKeysAreExportedByHandInEveryLayout() throws {
        let directory = try TestDirectory()
        let first = try Program.serveData(in: directory)
        let id = try published(first)[0]
        #expect(try first.stop() == .exited(0))
        let rotated = try lines(
            "key", "rotate", "--use", "capability", "--in", "10m", in: directory)
        let next = rotated[0].split(separator: " ")[1]
        let pem = try lines("key", "export", "--use", "capability", in: directory)
        #expect(pem.count { $0 == "-----BEGIN PUBLIC KEY-----" } == 2)
        let signing = try lines(
            "key", "export", "--use", "capability", "--layout", "cyrus", in: directory)
        #expect(signing.count { $0 == "-----BEGIN PUBLIC KEY-----" } == 1)

        let target = directory.file("keys")
        func export(_ layout: String) throws -> [String] {
            try lines(
                "key", "export", "--use", "capability", "--directory", target, "--layout", layout,
                in: directory)
        }
        #expect(try export("cyrus") == ["wrote \(target)/capability.pem"])
        let only = try TestDirectory.read("\(target)/capability.pem")
        #expect(only.split(separator: "\n").map(String.init) == signing)
        #expect(try export("cyrus") == ["\(target) is up to date"])
        #expect(try export("pem").contains("removed \(target)/capability.pem"))
        #expect(names(in: target) == ["\(id).pem", "\(next).pem"].sorted())
        #expect(try TestDirectory.read("\(target)/\(id).pem") == only)
        try directory.write("theirs", to: "keys/capability.pem")
        let refused = try run(
            ["key", "export", "--use", "capability", "--directory", target, "--layout", "cyrus"],
            in: directory)
        #expect(refused.end == .exited(1) && refused.errors.contains("move it away"))
        #expect(names(in: target).count == 3)
    }

    @Test(arguments: [
        ["rotate", "--use", "capability", "--in", "5m"],
        ["rotate", "--use", "agent", "--in", "31d"],
        ["rotate", "--use", "login", "--in", "600"],
        ["rotate", "--use", "login", "--in", "10m", "--leaked"], ["export", "--use", "agent"],
        ["export", "--use", "login", "--layout", "dovecot"],
        ["export", "--use", "login", "--layout", "jwk"],
    ])
    func wrongOptionsAreUsageErrors(words: [String]) throws {
        #expect(try run(["key"] + words, in: try TestDirectory()).end == .exited(64))
    }
}
