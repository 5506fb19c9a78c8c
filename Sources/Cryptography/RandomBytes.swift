internal import Glibc

/// Bytes from the kernel's generator.
public enum RandomBytes {
    /// `getentropy` gives at most this many at a time, and gives them whole.
    private static let chunk = 256

    /// Ends the process rather than return bytes that are not random; once the machine has
    /// started, the kernel does not refuse.
    public static func make(_ count: Int) -> [UInt8] {
        precondition(count >= 0)
        return [UInt8](unsafeUninitializedCapacity: count) { target, filled in
            while filled < count {
                let size = min(chunk, count - filled)
                let start = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(target)[filled...])
                guard getentropy(start.baseAddress, size) == 0 else {
                    fatalError("the kernel gave no random bytes (errno \(errno))")
                }
                filled += size
            }
        }
    }
}
