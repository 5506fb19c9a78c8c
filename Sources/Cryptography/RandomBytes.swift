internal import Glibc

/// Random bytes from the kernel.
public enum RandomBytes {
    /// The most that one call of getentropy(3) returns. It returns all bytes or fails.
    private static let chunk = 256

    /// Ends the process if the kernel has no random bytes, because no caller could continue. This
    /// happens only while the machine starts.
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
