internal import Glibc
internal import Synchronization

/// The memory in which Argon2 hashes are computed, kept for the next hash.
///
/// Mapped, not allocated: the C library would keep a block in the arena of every thread that has
/// ever computed a hash, 200 MiB on two cores, and malloc_trim(3) does not return the end of an
/// arena. libargon2 wipes a block before it gives it back.
///
/// Guarantees: one block for each core is kept at most, until ``release()``.
public enum Argon2Memory {
    private struct Block {
        let address: UInt
        let bytes: Int

        func unmap() { munmap(UnsafeMutableRawPointer(bitPattern: address), bytes) }
    }

    /// Sizes are rounded up, so that hashes of different costs share blocks. Pages that a hash does
    /// not use take no memory.
    private static let unit = 32 << 20
    private static let limit = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    /// The latest last.
    private static let kept = Mutex<[Block]>([])

    /// The bytes that are kept now.
    static var keptBytes: Int { kept.withLock { $0.reduce(0) { $0 + $1.bytes } } }

    /// Returns what is kept to the kernel, for when no hash is expected soon.
    public static func release() {
        let blocks = kept.withLock { blocks in
            defer { blocks = [] }
            return blocks
        }
        for block in blocks { block.unmap() }
    }

    /// - Returns: `nil` when there is no memory.
    static func take(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let bytes = rounded(bytes)
        let block = kept.withLock { blocks in
            blocks.lastIndex { $0.bytes == bytes }.map { blocks.remove(at: $0) }
        }
        if let block { return UnsafeMutableRawPointer(bitPattern: block.address) }
        let memory = mmap(
            nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | Int32(MAP_ANONYMOUS), -1, 0)
        return memory == MAP_FAILED ? nil : memory
    }

    static func giveBack(_ memory: UnsafeMutableRawPointer, _ bytes: Int) {
        let excess = kept.withLock { blocks in
            blocks.append(Block(address: UInt(bitPattern: memory), bytes: rounded(bytes)))
            return blocks.count > limit ? blocks.removeFirst() : nil
        }
        excess?.unmap()
    }

    private static func rounded(_ bytes: Int) -> Int { (bytes + unit - 1) / unit * unit }
}
