import Glibc

/// One Swift file of the repository.
struct SourceFile: Sendable {
    /// From the root of the repository, `Sources/AuthCore/Instant.swift`.
    let path: String

    /// The module that it belongs to: the second part of its path.
    var module: String {
        let parts = path.split(separator: "/")
        return parts.count > 1 ? String(parts[1]) : ""
    }

    /// Its folder inside the module; empty for a file beside the folders.
    var folder: String {
        path.split(separator: "/").dropFirst(2).dropLast().joined(separator: "/")
    }

    let lines: [Substring]

    /// Its text with comments and the insides of string literals left out, line by line.
    let code: [Substring]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        code = CodeScanner.code(in: text).split(separator: "\n", omittingEmptySubsequences: false)
    }
}

/// The checkout that these tests were built from.
enum Repository {
    /// - Returns: every Swift file under `folder`, sorted by path.
    static func swiftFiles(under folder: String) throws -> [SourceFile] {
        try paths(under: folder).filter { $0.hasSuffix(".swift") }.sorted().map { path in
            SourceFile(path: path, text: try text(of: path))
        }
    }

    static func text(of path: String) throws -> String {
        guard let file = fopen("\(root)/\(path)", "r") else { throw Unreadable(path: path) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = getc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return String(decoding: bytes, as: UTF8.self)
    }

    struct Unreadable: Error {
        let path: String
    }

    private static var root: String {
        let parts = #filePath.split(separator: "/")
        return "/" + parts.dropLast(3).joined(separator: "/")
    }

    private static func paths(under folder: String) throws -> [String] {
        guard let stream = opendir("\(root)/\(folder)") else { throw Unreadable(path: folder) }
        defer { closedir(stream) }
        var found: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard !name.hasPrefix(".") else { continue }
            let path = "\(folder)/\(name)"
            // Links are not followed: they lead out of the folder.
            if entry.pointee.d_type == DT_DIR {
                found += try paths(under: path)
            } else if entry.pointee.d_type == DT_REG {
                found.append(path)
            }
        }
        return found
    }
}
