import TestPrimitives
import Testing

@testable import Platform

@Suite struct FileTests {
    @Test func createNeverReplaces() throws {
        let scratch = Scratch()
        let path = "\(scratch.path)/f"
        try File.create(path, content: [1])
        #expect(throws: FileError.exists) { try File.create(path, content: [2]) }
        #expect(try File.bytes(at: path, atMost: 10) == [1])
        #expect(scratch.names == ["f"])
    }

    @Test func aFileGetsItsNameWhenItIsComplete() throws {
        let scratch = Scratch()
        let path = "\(scratch.path)/f"
        try File.create(path) { temporary in
            #expect(scratch.names.isEmpty)
            _ = scratch.write(String(temporary.dropFirst(scratch.path.count + 1)), [7])
            #expect(!scratch.names.contains("f"))
        }
        #expect(scratch.names == ["f"])
        #expect(throws: FileError.exists) {
            try File.create(path) { temporary in
                _ = scratch.write(String(temporary.dropFirst(scratch.path.count + 1)), [8])
            }
        }
        #expect(try File.bytes(at: path, atMost: 10) == [7])
        #expect(throws: FileError.notText) {
            try File.create("\(scratch.path)/g") { temporary in
                _ = scratch.write(String(temporary.dropFirst(scratch.path.count + 1)), [9])
                throw FileError.notText
            }
        }
        #expect(scratch.names == ["f"])
    }

    @Test func replaceReplacesAndLeavesNothingElse() throws {
        let scratch = Scratch()
        let path = scratch.write("f", [1], mode: 0o644)
        try File.replace(path, content: [2])
        #expect(try File.bytes(at: path, atMost: 10) == [2])
        #expect(Scratch.mode(of: path) == 0o600)
        #expect(scratch.names == ["f"])
    }

    @Test func aFileBeyondTheLimitIsAnError() {
        let scratch = Scratch()
        let path = scratch.write("f", [UInt8](repeating: 1, count: 11))
        #expect(throws: FileError.tooLong(limit: 10)) { try File.bytes(at: path, atMost: 10) }
    }

    @Test func textMustBeUTF8() {
        let scratch = Scratch()
        let path = scratch.write("f", [0xff, 0xfe])
        #expect(throws: FileError.notText) { try File.text(at: path, atMost: 10) }
    }

    @Test func aFileInAMissingDirectoryCannotBeCreated() {
        #expect(throws: FileError.missing) { try File.create("/no/such/f", content: []) }
    }
}
