internal import Glibc

/// A directory of one test, which is removed with this object.
final class TestDirectory {
    private let path: String

    init() throws {
        var template = Array("/tmp/postern-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestError("no directory: errno \(errno)") }
        path = template.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
    }

    deinit { Self.removeAll(path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func write(_ text: String, to name: String) throws {
        guard let file = fopen(file(name), "w") else { throw TestError("cannot write \(name)") }
        defer { fclose(file) }
        fputs(text, file)
    }

    private static func removeAll(_ path: String) {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { raw in
                    String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name != ".", name != ".." { removeAll("\(path)/\(name)") }
            }
            closedir(directory)
        }
        remove(path)
    }

    static func read(_ path: String) throws -> String {
        guard let file = fopen(path, "r") else { throw TestError("cannot read \(path)") }
        defer { fclose(file) }
        var content: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 {
            content += piece[..<count]
        }
        return String(decoding: content, as: UTF8.self)
    }
}

/// Why a test cannot continue.
struct TestError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// The end of a wait. It is so late that it passes only when the program hangs.
struct Deadline {
    private let end = ContinuousClock.now + .seconds(120)

    /// The remaining time, for `poll`.
    var milliseconds: Int32 {
        Int32(clamping: max(0, Int((end - ContinuousClock.now) / .milliseconds(1))))
    }
}
