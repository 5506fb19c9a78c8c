internal import Glibc

/// A directory of one test, which is removed with this object.
public final class Scratch {
    public let path: String

    public init() {
        var template = Array("/tmp/postern-test-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    public func write(_ name: String, _ content: [UInt8], mode: UInt32 = 0o600) -> String {
        let file = "\(path)/\(name)"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, mode)
        _ = content.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
        fchmod(descriptor, mode)
        close(descriptor)
        return file
    }

    public var names: [String] {
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

    public static func mode(of path: String) -> UInt32 {
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
public final class Pipe {
    public private(set) var reader: Int32
    public let writer: Int32

    public init() {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        (reader, writer) = (ends[0], ends[1])
    }

    /// Closes the writing end and reads everything.
    public func drained() -> String {
        close(writer)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(reader, &chunk, chunk.count), count > 0 {
            bytes += chunk[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    public func abandon() {
        close(reader)
        reader = -1
    }

    deinit {
        if reader >= 0 { close(reader) }
    }
}
