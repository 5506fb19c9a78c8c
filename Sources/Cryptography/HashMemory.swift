internal import Glibc
internal import Synchronization

/// The memory in which Argon2 and scrypt are computed, kept for the next hash.
///
/// The memory is mapped and not allocated. The C library would keep a block in the arena of every
/// thread that has ever computed a hash, and malloc_trim(3) does not return the end of an arena. It
/// uses huge pages if the kernel has them: a hash reads its block in random order, and with pages
/// of 4 KiB most reads would wait for the address of the page. libargon2 wipes a block before it
/// returns it. The tables of scrypt stay until the next hash, because proofs of work are not
/// secret.
///
/// Guarantees: Blocks in use and kept blocks together are no more than the number of cores, unless
/// more are in use. None is kept after ``release()``.
public enum HashMemory {
    private struct Block {
        let address: UInt
        let bytes: Int

        func unmap() { munmap(UnsafeMutableRawPointer(bitPattern: address), bytes) }
    }

    private struct State {
        /// The latest last.
        var kept: [Block] = []
        /// Blocks in use, those that are being mapped included.
        var usedCount = 0
        /// The bytes of the blocks in use, by address.
        var usedBytes: [UInt: Int] = [:]

        /// Removes the block that is one too many, if there is one.
        mutating func removeExcess() -> Block? {
            guard kept.count + usedCount > limit, !kept.isEmpty else { return nil }
            return kept.removeFirst()
        }
    }

    /// Sizes are rounded up, so that hashes of different costs share blocks. Pages that a hash does
    /// not use take no memory.
    private static let unit = 32 << 20
    private static let hugePage = 2 << 20
    private static let limit = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    private static let state = Mutex(State())

    /// The bytes that are kept now.
    static var keptBytes: Int { state.withLock { $0.kept.reduce(0) { $0 + $1.bytes } } }

    /// Returns the kept blocks to the kernel, for when no hash is expected soon.
    public static func release() {
        let blocks = state.withLock { state in
            defer { state.kept = [] }
            return state.kept
        }
        for block in blocks { block.unmap() }
    }

    /// A block of at least `bytes` bytes, at a multiple of the size of a huge page.
    /// - Returns: `nil` when there is no memory.
    static func take(_ bytes: Int) -> UnsafeMutableRawPointer? {
        let bytes = (bytes + unit - 1) / unit * unit
        let (kept, excess): (Block?, Block?) = state.withLock { state in
            state.usedCount += 1
            let fitting = state.kept.indices.filter { state.kept[$0].bytes >= bytes }
            let smallest = fitting.min { state.kept[$0].bytes < state.kept[$1].bytes }
            let kept = smallest.map { state.kept.remove(at: $0) }
            return (kept, state.removeExcess())
        }
        excess?.unmap()
        let block = kept ?? map(bytes)
        state.withLock { state in
            if let block {
                state.usedBytes[block.address] = block.bytes
            } else {
                state.usedCount -= 1
            }
        }
        return block.flatMap { UnsafeMutableRawPointer(bitPattern: $0.address) }
    }

    static func giveBack(_ memory: UnsafeMutableRawPointer) {
        let address = UInt(bitPattern: memory)
        let excess: Block? = state.withLock { state in
            guard let bytes = state.usedBytes.removeValue(forKey: address) else {
                preconditionFailure("a block that was not taken")
            }
            state.usedCount -= 1
            state.kept.append(Block(address: address, bytes: bytes))
            return state.removeExcess()
        }
        excess?.unmap()
    }

    private static func map(_ bytes: Int) -> Block? {
        let (mapped, overflow) = bytes.addingReportingOverflow(hugePage)
        guard !overflow,
            let memory = mmap(
                nil, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | Int32(MAP_ANONYMOUS), -1, 0),
            memory != MAP_FAILED
        else { return nil }
        let begin = UInt(bitPattern: memory)
        let address = (begin + UInt(hugePage) - 1) / UInt(hugePage) * UInt(hugePage)
        let before = Int(address - begin)
        if before > 0 { munmap(memory, before) }
        munmap(memory + before + bytes, hugePage - before)
        // Where the kernel has no huge pages, the block has small ones.
        madvise(memory + before, bytes, MADV_HUGEPAGE)
        return Block(address: address, bytes: bytes)
    }
}
