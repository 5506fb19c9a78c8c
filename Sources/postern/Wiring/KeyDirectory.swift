internal import AuthCore
internal import Configuration
internal import Cryptography
internal import Glibc
internal import Platform

/// A directory in which a mail store finds public keys.
///
/// Guarantees: Each file is replaced as a whole, so a reader sees either the old or the new
/// content. New keys are written before old ones are removed. A file that this program did not
/// write, or that was changed since, is neither replaced nor removed. The written files are listed
/// with their SHA-256 in `.postern/`. Temporary files are made there, too, because Cyrus IMAP reads
/// every file of the directory, but not those of directories in it.
struct KeyDirectory: Sendable {
    /// The names of a directory's files, relative to it, and their content.
    typealias Files = [String: [UInt8]]

    /// What a call has changed.
    struct Changes: Equatable, Sendable {
        var written: [String] = []
        var removed: [String] = []

        var isEmpty: Bool { written.isEmpty && removed.isEmpty }
    }

    /// A file that was written, as an entry of the list.
    private struct Entry: Hashable {
        let digest: String
        let path: String
    }

    private static let bookkeeping = ".postern"
    private static let fileLimit = 65_536
    private static let listLimit = 1000
    private static let readableByAll: File.Mode = 0o644
    private static let searchableByAll: File.Mode = 0o755

    let path: String
    /// The keys of each use have their own list, so that several uses may share a directory.
    let use: KeyUse
    /// How often the lock of the directory is tried, every ten milliseconds.
    var lockAttempts = 200

    /// Makes the directory have these files, and none that an earlier call wrote for this use.
    /// Blocks until they are on the disk.
    func write(_ files: Files) throws(KeyDirectoryError) -> Changes {
        try makeDirectory(path, mode: Self.searchableByAll)
        try makeDirectory(hidden, mode: 0o700)
        let lock = try lock()
        defer { close(lock) }
        let listed = try readList()
        let ours = Set(listed.filter { digest(of: $0.path) == $0.digest })
        let ourPaths = Set(ours.map(\.path))
        let wanted = Set(
            files.map { Entry(digest: Hex.encode(SHA256.digest($0.value)), path: $0.key) })
        // A file with the same content is not claimed: it still belongs to the program that made
        // it.
        let missing = wanted.filter { digest(of: $0.path) != $0.digest }
        for entry in missing where exists(entry.path) && !ourPaths.contains(entry.path) {
            throw .notOurs(absolute(entry.path))
        }
        var changes = Changes()
        // The list is written before the files, so that after a crash each of them is known.
        let known = ours.union(missing)
        if known != listed { try writeList(known) }
        for entry in missing.sorted(by: { $0.path < $1.path }) {
            try put(
                files[entry.path] ?? [], at: entry.path, replacing: ourPaths.contains(entry.path))
            changes.written.append(entry.path)
        }
        for name in ourPaths.subtracting(files.keys).sorted() {
            guard unlink(absolute(name)) == 0 || errno == ENOENT else {
                throw .file(absolute(name), .last)
            }
            changes.removed.append(name)
        }
        let kept = known.intersection(wanted)
        if kept != known { try writeList(kept) }
        return changes
    }

    /// The names of files that are not there, or have other content.
    func missing(of files: Files) -> [String] {
        files.filter { content(of: $0.key) != $0.value }.keys.sorted()
    }

    /// Other files of the directory that hold a public key.
    func otherKeys(beside files: Files) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var found: [String] = []
        while let entry = readdir(directory), found.count < Self.listLimit {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard files[name] == nil, let content = content(of: name) else { continue }
            let text = String(decoding: content, as: UTF8.self)
            if text.contains("-----BEGIN PUBLIC KEY-----") { found.append(name) }
        }
        return found.sorted()
    }

    private var hidden: String { "\(path)/\(Self.bookkeeping)" }
    private var list: String { "\(hidden)/\(use.rawValue)" }
    private func absolute(_ name: String) -> String { "\(path)/\(name)" }

    /// The mode does not depend on the umask: a mail store runs as another user. A directory that
    /// exists is not changed.
    private func makeDirectory(_ path: String, mode: File.Mode) throws(KeyDirectoryError) {
        if mkdir(path, mode) == 0 {
            guard chmod(path, mode) == 0 else { throw .file(path, .last) }
        } else if errno != EEXIST {
            throw .file(path, .last)
        }
    }

    /// Another server, or a command, may write to the directory at the same time.
    private func lock() throws(KeyDirectoryError) -> Int32 {
        let descriptor = open(hidden, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .file(hidden, .last) }
        for _ in 0..<lockAttempts {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            guard errno == EWOULDBLOCK || errno == EINTR else {
                let error = KeyDirectoryError.file(hidden, .last)
                close(descriptor)
                throw error
            }
            usleep(10_000)
        }
        close(descriptor)
        throw .inUse(path)
    }

    private func put(
        _ content: [UInt8], at name: String, replacing: Bool
    ) throws(KeyDirectoryError) {
        var parent = path
        for component in name.split(separator: "/").dropLast() {
            parent += "/\(component)"
            try makeDirectory(parent, mode: Self.searchableByAll)
        }
        try perform(absolute(name)) { () throws(FileError) in
            try File.install(
                content, at: absolute(name), mode: Self.readableByAll, temporaryIn: hidden,
                replacing: replacing)
        }
    }

    private func perform(
        _ path: String, _ work: () throws(FileError) -> Void
    ) throws(KeyDirectoryError) {
        do throws(FileError) {
            try work()
        } catch .exists {
            throw .notOurs(path)
        } catch {
            throw .file(path, error)
        }
    }

    private func exists(_ name: String) -> Bool {
        var status = stat()
        return lstat(absolute(name), &status) == 0
    }

    private func digest(of name: String) -> String? {
        content(of: name).map { Hex.encode(SHA256.digest($0)) }
    }

    /// `nil` for what is not a regular file of a sensible size.
    private func content(of name: String) -> [UInt8]? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let descriptor = open(absolute(name), flags)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return try? File.bytes(from: descriptor, atMost: Self.fileLimit)
    }

    // MARK: The list

    /// Each line is a digest, two spaces and a path, as `sha256sum` writes it.
    private func readList() throws(KeyDirectoryError) -> Set<Entry> {
        let text: String
        do throws(FileError) {
            text = try File.text(at: list, atMost: Self.fileLimit * 2)
        } catch .missing {
            return []
        } catch {
            throw .file(list, error)
        }
        var entries: Set<Entry> = []
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            let digest = line.prefix(64)
            let name = Array(line.dropFirst(66))
            guard line.dropFirst(64).prefix(2).elementsEqual("  ".utf8),
                Hex.decode(digest)?.count == 32, Self.isName(name),
                entries.count < Self.listLimit
            else { throw .damagedList(list) }
            entries.insert(
                Entry(
                    digest: String(decoding: digest, as: UTF8.self),
                    path: String(decoding: name, as: UTF8.self)))
        }
        return entries
    }

    private func writeList(_ entries: Set<Entry>) throws(KeyDirectoryError) {
        let lines = entries.map { "\($0.digest)  \($0.path)\n" }.sorted().joined()
        try perform(list) { () throws(FileError) in
            try File.install(
                Array(lines.utf8), at: list, mode: Self.readableByAll, temporaryIn: hidden,
                replacing: true)
        }
    }

    /// Whether the path leads to a file inside the directory that is not one of our own lists.
    static func isName(_ name: [UInt8]) -> Bool {
        let parts = name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return (1...3).contains(parts.count)
            && parts.allSatisfy { part in
                (1...64).contains(part.count) && part.first != UInt8(ascii: ".")
                    && part.allSatisfy { byte in
                        switch byte {
                        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                        default: "-_.".utf8.contains(byte)
                        }
                    }
            }
    }
}

/// Why the directory does not have the keys that it should have.
enum KeyDirectoryError: Error, Equatable, CustomStringConvertible {
    case file(String, FileError)
    case notOurs(String)
    case inUse(String)
    case damagedList(String)
    case unusableID(String)
    /// The mail store of the layout cannot verify with the key that signs now.
    case unusableKey(id: String, SignatureAlgorithm, KeyLayout)

    var description: String {
        switch self {
        case .file(let path, let error): "\(path) cannot be used for public keys: \(error)"
        case .notOurs(let path):
            "\(path) exists, and is not a file that this program has written; move it away"
        case .inUse(let path): "another process is writing public keys to \(path)"
        case .damagedList(let path):
            "\(path) is not the list that this program has written; remove it, and the keys beside"
                + " it that are not needed"
        case .unusableKey(let id, let algorithm, let layout):
            "the key \(id) signs now: \(layout.mismatch(with: algorithm).problem);"
                + " \(layout.mismatch(with: algorithm).remedy) as tokens.capability_algorithm"
        case .unusableID(let id): "the key id \(id.printable()) cannot be the name of a file"
        }
    }
}
