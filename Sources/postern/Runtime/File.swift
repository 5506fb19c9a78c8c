internal import Cryptography
internal import Glibc

/// Why a file could not be read or written.
enum FileFault: Error, Equatable, CustomStringConvertible {
    case missing
    case exists
    case tooLong(limit: Int)
    case notText
    /// Any other failure, by its `errno`.
    case system(Int32)

    /// From the `errno` of a call that just failed.
    static var last: FileFault {
        switch errno {
        case ENOENT: .missing
        case EEXIST: .exists
        default: .system(errno)
        }
    }

    var description: String {
        switch self {
        case .missing: "no such file"
        case .exists: "the file exists"
        case .tooLong(let limit): "longer than \(limit) octets"
        case .notText: "not UTF-8 text"
        case .system(let code): String(cString: strerror(code))
        }
    }
}

/// Small whole files: read with a limit, written so that a crash leaves the old or the new.
enum File {
    static func text(at path: String, atMost limit: Int) throws(FileFault) -> String {
        guard let text = String(validating: try bytes(at: path, atMost: limit), as: UTF8.self)
        else {
            throw .notText
        }
        return text
    }

    static func bytes(at path: String, atMost limit: Int) throws(FileFault) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        return try bytes(from: descriptor, atMost: limit)
    }

    /// Everything up to the end of `descriptor`, which stays open.
    static func bytes(from descriptor: Int32, atMost limit: Int) throws(FileFault) -> [UInt8] {
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw .last }
            guard count > 0 else { return content }
            guard content.count + count <= limit else { throw .tooLong(limit: limit) }
            content += chunk[..<count]
        }
    }

    /// Makes the file with `content` and mode 0600, durably, or leaves nothing of that name.
    ///
    /// The content is whole before the name exists: a crash in between leaves no half secret.
    /// - Throws: ``FileFault/exists`` when there is one already, which is left as it is.
    static func create(_ path: String, content: [UInt8]) throws(FileFault) {
        try install(content, at: path) { temporary throws(FileFault) in
            try giveName(path, to: temporary)
        }
    }

    /// Like ``create(_:content:)``, but takes the place of a file that exists.
    static func replace(_ path: String, content: [UInt8]) throws(FileFault) {
        try install(content, at: path) { temporary throws(FileFault) in
            guard rename(temporary, path) == 0 else { throw .last }
        }
    }

    /// Makes the file of what `write` puts where it is told to, durably, or leaves nothing.
    /// - Throws: ``FileFault/exists`` when there is one already, which is left as it is.
    static func create(_ path: String, by write: (String) throws -> Void) throws {
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

    /// Makes the directory, and those above it, with mode 0700; one that exists stays as it is.
    static func makeDirectory(_ path: String) throws(FileFault) {
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
        _ content: [UInt8], at path: String, name: (String) throws(FileFault) -> Void
    ) throws(FileFault) {
        let temporary = newName(beside: path)
        do throws(FileFault) {
            try writeNew(temporary, content: content)
            try name(temporary)
            try synchronizeDirectory(of: path)
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// Random, because in containers that share a volume every process may be number 1.
    private static func newName(beside path: String) -> String {
        "\(path).\(Hex.encode(RandomBytes.make(8))).new"
    }

    /// Takes no other file's place, not even that of one that comes at this moment.
    private static func giveName(_ path: String, to temporary: String) throws(FileFault) {
        if link(temporary, path) == 0 {
            unlink(temporary)
            return
        }
        // File systems without links (FAT, some that are mounted over a network).
        guard [EPERM, EOPNOTSUPP, ENOSYS].contains(errno) else { throw .last }
        guard access(path, F_OK) != 0 else { throw .exists }
        guard rename(temporary, path) == 0 else { throw .last }
    }

    private static func writeNew(_ path: String, content: [UInt8]) throws(FileFault) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = open(path, flags, 0o600)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
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

    /// A name is durable once its directory is.
    private static func synchronizeDirectory(of path: String) throws(FileFault) {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw .last }
    }
}
