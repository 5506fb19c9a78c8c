internal import Glibc
internal import Synchronization

/// The body of a request. It may contain a password, so it is overwritten when the last copy of the
/// request is freed, unless the array is still in use.
final class RequestBody: Sendable {
    private let content: Mutex<[UInt8]>

    init(_ bytes: [UInt8]) {
        content = Mutex(bytes)
    }

    deinit {
        content.withLock { $0.withUnsafeMutableBytes(wipe) }
    }

    var bytes: [UInt8] { content.withLock { $0 } }
}

/// Overwrites the bytes with zeros, in a way that the optimiser does not remove.
func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    explicit_bzero(start, bytes.count)
}
