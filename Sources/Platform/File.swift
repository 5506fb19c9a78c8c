internal import CProcess
internal import Cryptography
internal import Glibc
// One of this and CProcess declares `timespec` in this toolchain: the one that is loaded first.
internal import SwiftOverlayShims

/// Why a file could not be read or written.
public enum FileError: Error, Equatable, CustomStringConvertible {
    case missing
    case exists
    case tooLong(limit: Int)
    case notText
    /// Any other failure, by its `errno`.
    case system(Int32)

    /// The error of the system call that has just failed, from `errno`.
    public static var last: FileError {
        switch errno {
        case ENOENT: .missing
        case EEXIST: .exists
        default: .system(errno)
        }
    }

    public var description: String {
        switch self {
        case .missing: "no such file"
        case .exists: "the file exists"
        case .tooLong(let limit): "longer than \(limit) bytes"
        case .notText: "not UTF-8 text"
        case .system(let code): String(cString: strerror(code))
        }
    }
}

/// Reads small files with a limit, and writes files so that after a crash either the old or the new
/// content is there.
public enum File {
    public static func text(at path: String, atMost limit: Int) throws(FileError) -> String {
        guard let text = String(validating: try bytes(at: path, atMost: limit), as: UTF8.self)
        else {
            throw .notText
        }
        return text
    }

    public static func bytes(at path: String, atMost limit: Int) throws(FileError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        return try bytes(from: descriptor, atMost: limit)
    }

    /// Reads up to the end of `descriptor` and leaves it open.
    public static func bytes(from descriptor: Int32, atMost limit: Int) throws(FileError) -> [UInt8]
    {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        // The file may be a secret.
        defer { chunk.wipe() }
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            guard count > 0 else { return content }
            guard content.count + count <= limit else { throw .tooLong(limit: limit) }
            content += chunk[..<count]
        }
    }

    /// The bits of chmod(2): who may read, write and search a file.
    public typealias Mode = UInt32

    /// - Returns: `nil` when it cannot be looked at.
    public static func mode(of path: String) -> Mode? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
    }

    /// Values that change whenever the file changes; `nil` if they cannot be read.
    public struct Version: Equatable, Sendable {
        private let numbers: [Int]

        fileprivate init(_ status: stat) {
            numbers = [
                Int(status.st_dev), Int(bitPattern: UInt(status.st_ino)), Int(status.st_size),
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                status.st_ctim.tv_nsec,
            ]
        }
    }

    public static func version(of path: String) -> Version? {
        var status = stat()
        return stat(path, &status) == 0 ? Version(status) : nil
    }

    /// The content of a regular file, at most `limit` bytes. Returns `nil` if there is none.
    /// Symbolic links are not followed.
    public static func regular(at path: String, atMost limit: Int) -> [UInt8]? {
        // Opening a pipe would wait for its writer.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return try? bytes(from: descriptor, atMost: limit)
    }

    /// Creates the file with `content` and mode 0600. It is durable when the function returns.
    ///
    /// The file gets its name after its content is complete, so a crash leaves no partial file.
    /// - Throws: ``FileError/exists`` when there is a file; it is not changed.
    public static func create(_ path: String, content: [UInt8]) throws(FileError) {
        try install(content, at: path) { temporary throws(FileError) in
            try giveName(path, to: temporary)
        }
    }

    /// Like ``create(_:content:)``, but replaces a file that exists.
    public static func replace(_ path: String, content: [UInt8]) throws(FileError) {
        try install(content, at: path) { temporary throws(FileError) in
            guard rename(temporary, path) == 0 else { throw .last }
        }
    }

    /// Creates the file from what `write` writes to the temporary path that it is given. It is
    /// durable when the function returns; after an error nothing is left.
    /// - Throws: ``FileError/exists`` when there is a file; it is not changed.
    public static func create(_ path: String, by write: (String) throws -> Void) throws {
        let temporary = newName(beside: path)
        do {
            try write(temporary)
            try giveName(path, to: temporary)
            try synchronizeDirectory(of: path)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Creates the file with `content`, or replaces it whole, with a mode that does not depend on
    /// the umask. It is durable when the function returns.
    /// - Parameters:
    ///   - directory: where the temporary file is made, on the same file system.
    ///   - replacing: `false` to throw ``FileError/exists`` when there is a file.
    public static func install(
        _ content: [UInt8], at path: String, mode: Mode, temporaryIn directory: String,
        replacing: Bool
    ) throws(FileError) {
        let temporary = newName(beside: "\(directory)/file")
        do throws(FileError) {
            try writeNew(temporary, content: content, mode: mode)
            if replacing {
                guard rename(temporary, path) == 0 else { throw .last }
            } else {
                try giveName(path, to: temporary)
            }
            try synchronizeDirectory(of: path)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Creates the directory, and those above it, with mode 0700. One that exists is not changed.
    public static func makeDirectory(_ path: String) throws(FileError) {
        if mkdir(path, 0o700) == 0 { return }
        switch errno {
        case EEXIST: return
        case ENOENT:
            guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { throw .last }
            try makeDirectory(String(path[..<slash]))
            guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .last }
        default: throw .last
        }
    }

    private static func install(
        _ content: [UInt8], at path: String, name: (String) throws(FileError) -> Void
    ) throws(FileError) {
        let temporary = newName(beside: path)
        do throws(FileError) {
            try writeNew(temporary, content: content)
            try name(temporary)
            try synchronizeDirectory(of: path)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Random, because process numbers are not unique among containers that share a volume.
    private static func newName(beside path: String) -> String {
        "\(path).\(Hex.encode(RandomBytes.make(8))).new"
    }

    /// Never replaces a file, not even one that is created at the same moment.
    private static func giveName(_ path: String, to temporary: String) throws(FileError) {
        if link(temporary, path) == 0 {
            unlink(temporary)
            return
        }
        // File systems without links: FAT and some network file systems.
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { throw .last }
        guard access(path, F_OK) != 0 else { throw .exists }
        guard rename(temporary, path) == 0 else { throw .last }
    }

    private static func writeNew(
        _ path: String, content: [UInt8], mode: Mode = 0o600
    ) throws(FileError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        if mode != 0o600, fchmod(descriptor, mode) != 0 { throw .last }
        var written = 0
        while written < content.count {
            let count = content[written...].withUnsafeBytes {
                write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .last }
            written += count
        }
        guard fsync(descriptor) == 0 else { throw .last }
    }

    /// A new name is durable after its directory was synchronized.
    private static func synchronizeDirectory(of path: String) throws(FileError) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .last }
    }
}

extension File.Mode {
    /// As chmod(1) reads it.
    public var octal: String { "0" + String(self, radix: 8) }
}
