internal import CSocket
internal import Glibc

/// A unix socket that is bound, and its file.
///
/// The file has its mode and owner before anybody can connect. The file of a server that has ended
/// is replaced; any other file stays, and is an error.
struct UnixSocket: Sendable {
    let descriptor: Int32
    private let path: String
    /// What identifies the file, so that only this one is removed.
    private let device: dev_t
    private let inode: ino_t

    init(_ file: SocketFile) throws(SocketError) {
        path = file.path
        guard file.path.utf8.count <= SocketFile.maxPathBytes, !file.path.utf8.contains(0) else {
            throw SocketError(call: "binding unix:\(file.path)", code: ENAMETOOLONG)
        }
        descriptor = csocket_open(AF_UNIX)
        guard descriptor >= 0 else { throw SocketError(call: "socket", code: errno) }
        do throws(SocketError) {
            try Self.removeAbandoned(file.path)
            guard csocket_bind_path(descriptor, file.path) == 0 else {
                throw SocketError(call: "binding unix:\(file.path)", code: errno)
            }
            (device, inode) = try Self.prepare(file)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Whether the path still leads to this socket.
    var isPresent: Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }

    func remove() {
        if isPresent { unlink(path) }
    }

    /// Sets mode and owner. Connecting is refused until the socket listens.
    private static func prepare(_ file: SocketFile) throws(SocketError) -> (dev_t, ino_t) {
        var status = stat()
        let unchanged = UInt32.max
        // A confined process may not be allowed to change owners, not even to its own user.
        let isKept = file.owner == nil && file.group == nil
        guard chmod(file.path, file.mode) == 0,
            isKept || chown(file.path, file.owner ?? unchanged, file.group ?? unchanged) == 0,
            lstat(file.path, &status) == 0
        else {
            let error = SocketError(call: "setting the owner of unix:\(file.path)", code: errno)
            unlink(file.path)
            throw error
        }
        return (status.st_dev, status.st_ino)
    }

    /// Removes the file of a socket that nobody listens on.
    private static func removeAbandoned(_ path: String) throws(SocketError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SocketError(call: "binding unix:\(path)", code: EEXIST)
        }
        let probe = csocket_open(AF_UNIX)
        guard probe >= 0 else { throw SocketError(call: "socket", code: errno) }
        defer { close(probe) }
        guard csocket_connect_path(probe, path) != 0, errno == ECONNREFUSED else {
            throw SocketError(call: "binding unix:\(path)", code: EADDRINUSE)
        }
        unlink(path)
    }
}
