import Glibc
import Testing

@testable import Platform

@Suite struct ProcessTests {
    @Test func theSoftDescriptorLimitBecomesTheHardLimit() {
        let limit = Process.raiseDescriptorLimit()
        #expect(limit >= 1024)
        #expect(Process.raiseDescriptorLimit() == limit)
    }

    @Test func unchangedPagesOfFilesAreReleased() {
        let maps = """
            1000-2000 r--p 00000000 08:01 1  /lib/x.so
            2000-3000 r-xp 00001000 08:01 1  /lib/x.so
            55d0c0a00000-55d0c17f4000 r-xp 00000000 08:01 1234   /usr/bin/postern
            55d0c27f4000-55d0c27f5000 r-xp 00001000 08:01 1   /a path/with spaces (deleted)
            """
        #expect(
            Process.unchangedRanges(maps) == [
                0x1000..<0x2000, 0x2000..<0x3000, 0x55d0_c0a0_0000..<0x55d0_c17f_4000,
                0x55d0_c27f_4000..<0x55d0_c27f_5000,
            ])
    }

    /// As GNU ld lays it out: relocations are written into the second copy of the page.
    @Test func aLibraryOfOnePageKeepsItsRelocations() {
        let maps = """
            1000-2000 r-xp 00000000 08:01 1  /lib/x.so
            2000-3000 r--p 00000000 08:01 1  /lib/x.so
            3000-4000 rw-p 00001000 08:01 1  /lib/x.so
            """
        #expect(Process.unchangedRanges(maps) == [0x1000..<0x2000])
    }

    @Test(arguments: [
        "1000-2000 r--p 00001000 08:01 1  /lib/x.so", "1000-2000 rw-p 00000000 08:01 1  /lib/x.so",
        "1000-2000 r-xp 00000000 00:00 0  [vdso]", "1000-2000 r-xp 00000000 00:00 0",
        "1000-2000 rwxp 00000000 08:01 1  /lib/x.so", "2000-1000 r-xp 00000000 08:01 1  /x", "",
        "x",
        "zz-2000 r-xp 00000000 08:01 1  /x", "1000 r-xp 00000000 08:01 1  /x",
    ])
    func pagesThatMayHaveBeenWrittenToAreNotReleased(line: String) {
        #expect(Process.unchangedRanges(line) == [])
    }

    @Test(.disabled(if: isSanitized, "the sanitizer has an allocator of its own"))
    func freePagesOfTheHeapAreReturnedToTheKernel() async {
        await #expect(processExitsWith: .success) {
            let size = 1_000
            var blocks = try (0..<100_000).map { _ in try #require(malloc(size)) }
            for block in blocks { memset(block, 1, size) }
            // The last block stays, so that the allocator does not return the rest by itself.
            let last = blocks.removeLast()
            for block in blocks { free(block) }
            let before = try residentPages()
            Process.releaseFreeHeap()
            let after = try residentPages()
            free(last)
            #expect((before - after) * sysconf(Int32(_SC_PAGESIZE)) > 50_000_000)
        }
    }

    @Test func theProgramRunsOnWithoutItsCodePages() {
        Process.releaseCodePages()
        #expect((1...100).reduce(0, +) == 5050)
    }
}

private func residentPages() throws -> Int {
    let text = try File.text(at: "/proc/self/statm", atMost: 1_000)
    return try #require(Int(text.split(separator: " ")[1]))
}

/// Whether the tests run under the thread sanitizer (`make tsan`).
#if THREAD_SANITIZER
    private let isSanitized = true
#else
    private let isSanitized = false
#endif
