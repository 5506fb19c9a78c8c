internal import CAllocator
internal import Glibc

/// What the process holds in memory without needing it.
enum Footprint {
    /// Hands back the free pages of the heap.
    ///
    /// The allocator keeps what password hashes have used, about 20 MiB apiece and once per thread
    /// that ever computed one, because the next hash would fault it in again; kept while there are
    /// hashes, it pays, and a minute later it only makes an idle server look large.
    static func releaseFreeHeap() {
        _ = malloc_trim(0)
    }

    /// Hands back the mapped pages of code of the program and its libraries.
    ///
    /// Starting touches much that is never needed again (parsing settings, registering types, the
    /// loader's tables), and the kernel maps each touched page with its 64 KiB around it: 17 of the
    /// 24 MiB that an idle server had resident. The pages are clean copies of files; what is needed
    /// again comes back from the page cache by a minor fault.
    static func trim() {
        guard let maps = try? File.text(at: "/proc/self/maps", atMost: 1_048_576) else { return }
        for line in maps.split(separator: "\n") {
            guard let range = codeRange(line) else { continue }
            madvise(
                UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }

    /// The addresses of a line of `/proc/self/maps` (proc_pid_maps(5)) that maps code of a file;
    /// `nil` for every other line. Read-only data is left alone: the loader may have fixed it up
    /// before it was locked, and that would be lost.
    static func codeRange(_ line: Substring) -> Range<UInt>? {
        let fields = line.split(separator: " ", maxSplits: 5)
        guard fields.count == 6, fields[1] == "r-xp",
            fields[5].drop(while: { $0 == " " }).hasPrefix("/")
        else { return nil }
        let ends = fields[0].split(separator: "-").map { UInt($0, radix: 16) }
        guard ends.count == 2, let begin = ends[0], let end = ends[1], begin < end else {
            return nil
        }
        return begin..<end
    }
}
