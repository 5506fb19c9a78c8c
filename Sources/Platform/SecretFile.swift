internal import Cryptography

/// Reads files with a secret that the operator chose.
public enum SecretFile {
    /// - Returns: at most `limit` bytes, which the caller wipes.
    public static func content(
        at path: String, atMost limit: Int = 4096
    ) throws(SecretFileError) -> [UInt8] {
        var content: [UInt8]
        do throws(FileError) {
            content = try File.bytes(at: path, atMost: limit)
        } catch {
            throw .unreadable(error)
        }
        guard let mode = File.mode(of: path), mode & 0o022 == 0 else {
            content.wipe()
            throw .replaceable(path: path)
        }
        return content
    }

    /// A warning about the file that `setting` names; `nil` if there is none.
    public static func exposure(_ setting: String, _ path: String?) -> String? {
        guard let path, let mode = File.mode(of: path), mode & 0o044 != 0 else { return nil }
        return "\(setting): \(path) can be read by others (mode \(mode.octal)); run:"
            + " chmod go-rwx \(path)"
    }
}

/// Why a secret cannot be used.
public enum SecretFileError: Error, CustomStringConvertible {
    case unreadable(FileError)
    case replaceable(path: String)

    public var description: String {
        switch self {
        case .unreadable(let error): "cannot be read: \(error)"
        case .replaceable(let path): "can be replaced by others; run: chmod go-w \(path)"
        }
    }
}
