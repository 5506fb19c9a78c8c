import Glibc

@testable import postern

/// A directory of one test, which is removed with this object.
final class Scratch {
    let path: String

    init() {
        var template = Array("/tmp/postern-test-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func write(_ name: String, _ content: [UInt8], mode: UInt32 = 0o600) -> String {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, mode)
        _ = content.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        fchmod(descriptor, mode)
        close(descriptor)
        return file
    }

    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    static func mode(of path: String) -> UInt32 {
        var status = stat()
        stat(path, &status)
        return status.st_mode & 0o777
    }

    deinit {
        for name in names {
            unlink("\(path)/\(name)")
            rmdir("\(path)/\(name)")
        }
        rmdir(path)
    }
}

/// A pipe that the test reads from.
final class Pipe {
    private(set) var reader: Int32
    let writer: Int32

    init() {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        (reader, writer) = (ends[0], ends[1])
    }

    /// Closes the writing end and reads everything.
    func drained() -> String {
        close(writer)
        let bytes = (try? File.bytes(from: reader, atMost: 10_000_000)) ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    func abandon() {
        close(reader)
        reader = -1
    }

    deinit {
        if reader >= 0 { close(reader) }
    }
}
