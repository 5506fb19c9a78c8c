internal import CAllocator
internal import CProcess
internal import Glibc
// One of this and CProcess declares `timespec` in this toolchain: the one that is loaded first.
internal import SwiftOverlayShims

/// The process of this program: its version, its environment, and its resources in the kernel and
/// the allocator.
public enum Process {
    public static let version = "0.1.0"

    /// The environment variables. For a name that is given twice the first one counts, as for
    /// `getenv`.
    public static var environment: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                let name = String(text[..<equals])
                if variables[name] == nil {
                    variables[name] = String(text[text.index(after: equals)...])
                }
            }
            next += 1
        }
        return variables
    }

    /// The number of processors that are online, at least 1.
    public static var processorCount: Int { max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// CPU time of this process so far, in the program and in the kernel.
    public static var cpuSeconds: Double {
        var time = timespec()
        guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The size of the address space, and of the part of it that is in RAM (proc_pid_statm(5)).
    public static var memory: (virtualBytes: Int, residentBytes: Int)? {
        guard let text = try? File.text(at: "/proc/self/statm", atMost: 256) else { return nil }
        let pages = text.split(separator: " ").prefix(2).compactMap { Int($0) }
        guard pages.count == 2 else { return nil }
        let pageBytes = sysconf(Int32(_SC_PAGESIZE))
        return (pages[0] * pageBytes, pages[1] * pageBytes)
    }

    /// How many file descriptors are open. Takes longer the more there are.
    public static var openDescriptors: Int? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        // Without `.`, `..` and the descriptor of the directory itself.
        return count - 3
    }

    /// How many file descriptors may be open.
    public static var descriptorLimit: Int {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// Raises the soft limit of open files to the hard limit. The usual soft limit, 1,024, exists
    /// for programs that use `select`.
    /// - Returns: the limit that is now in force.
    @discardableResult
    public static func raiseDescriptorLimit() -> UInt {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return 0 }
        if limit.rlim_cur < limit.rlim_max {
            limit.rlim_cur = limit.rlim_max
            setrlimit(resource, &limit)
        }
        return UInt(limit.rlim_cur)
    }

    /// Protects the memory of this process, which contains keys (PR_SET_DUMPABLE(2const)). The
    /// kernel does not write it to a file after a crash, and other processes of the same user
    /// cannot read it.
    public static func forbidCoreDumps() {
        _ = cprocess_forbid_dumps()
        // If core_pattern is a pipe, the limit is not used. With other patterns it is.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    /// Returns the free pages of the heap to the kernel.
    ///
    /// The allocator keeps free memory for the next requests. A minute later it only makes an idle
    /// server look large.
    public static func releaseFreeHeap() {
        _ = malloc_trim(0)
    }

    /// Releases the resident pages of the program's and its libraries' code, and those of its
    /// constants that the loader cannot have changed.
    ///
    /// The start uses much code only once (reading settings, registering types, loading libraries),
    /// and the kernel maps 64 KiB around each page that is used. That was 17 of the 24 MiB that an
    /// idle server had resident. Tasks that run once a minute bring some pages back. The pages are
    /// unchanged copies of files, so code that is used again comes back from the page cache with a
    /// minor fault.
    public static func releaseCodePages() {
        guard let maps = try? File.text(at: "/proc/self/maps", atMost: 1_048_576) else { return }
        // All lines before the first release: reading one uses code.
        for range in unchangedRanges(maps) {
            madvise(
                UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
        }
    }

    /// The addresses of the lines of `/proc/self/maps` (proc_pid_maps(5)) that map code of a file,
    /// or the read-only data that it begins with. Further read-only data is excluded: the loader
    /// may have written relocations into it before it became read-only, and releasing it would lose
    /// them. In a file of one page that data has the same offset as the beginning.
    static func unchangedRanges(_ maps: String) -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        var previousFile: Substring?
        for line in maps.split(separator: "\n") {
            let fields = line.split(separator: " ", maxSplits: 5)
            guard fields.count == 6 else { continue }
            let file = fields[5].drop { $0 == " " }
            let isFirst = file != previousFile && UInt(fields[2], radix: 16) == 0
            previousFile = file
            let ends = fields[0].split(separator: "-").map { UInt($0, radix: 16) }
            guard file.hasPrefix("/"), fields[1] == "r-xp" || fields[1] == "r--p" && isFirst,
                ends.count == 2, let begin = ends[0], let end = ends[1], begin < end
            else { continue }
            ranges.append(begin..<end)
        }
        return ranges
    }
}
