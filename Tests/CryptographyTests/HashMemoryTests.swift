import Glibc
import Testing

@testable import Cryptography

/// In processes of their own: other tests compute hashes meanwhile.
@Suite struct HashMemoryTests {
    private static func hash(
        memoryKiB: Int, kernel: Argon2.Kernel = .best
    ) throws -> [UInt8] {
        try Argon2.hash(
            password: [1], salt: [UInt8](repeating: 2, count: 16), iterations: 1,
            memoryKiB: memoryKiB, parallelism: 1, outputBytes: 32, variant: .argon2id,
            kernel: kernel)
    }

    @Test func aBlockIsKeptForTheNextHashAndReleased() async {
        await #expect(processExitsWith: .success) {
            let first = try Self.hash(memoryKiB: 1024)
            let kept = HashMemory.keptBytes
            #expect(kept > 0)
            #expect(try Self.hash(memoryKiB: 1024) == first)
            _ = try Self.hash(memoryKiB: 2048)
            #expect(HashMemory.keptBytes == kept)
            HashMemory.release()
            #expect(HashMemory.keptBytes == 0)
            #expect(try Self.hash(memoryKiB: 1024) == first)
        }
    }

    @Test func aKeptBlockHoldsNothing() async throws {
        await #expect(processExitsWith: .success) {
            for implementation in Argon2.Implementation.allCases where implementation.isSupported {
                _ = try Self.hash(memoryKiB: 1027, kernel: .using(implementation))
                let bytes = 1027 * 1024
                let block = try #require(HashMemory.take(bytes))
                let content = UnsafeRawBufferPointer(start: block, count: bytes)
                #expect(content.allSatisfy { $0 == 0 })
                HashMemory.giveBack(block)
            }
        }
    }

    @Test func noMoreBlocksAreKeptThanCoresCompute() async {
        await #expect(processExitsWith: .success) {
            let blocks = try (0..<100).map { _ in try #require(HashMemory.take(4096)) }
            HashMemory.giveBack(blocks[0])
            #expect(HashMemory.keptBytes == 0, "more are in use than there are cores")
            for block in blocks.dropFirst().dropLast() { HashMemory.giveBack(block) }
            let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
            let one = 32 << 20
            #expect(HashMemory.keptBytes == (cores - 1) * one)
            HashMemory.giveBack(blocks[99])
            #expect(HashMemory.keptBytes == cores * one)
        }
    }

    @Test func aBlockThatIsKeptIsUsedForSmallerHashesAndMakesRoomForLargerOnes() async {
        await #expect(processExitsWith: .success) {
            let cores = sysconf(Int32(_SC_NPROCESSORS_ONLN))
            let small = try (0..<cores).map { _ in try #require(HashMemory.take(1 << 20)) }
            for block in small { HashMemory.giveBack(block) }
            let large = try #require(HashMemory.take(100 << 20))
            #expect(HashMemory.keptBytes == (cores - 1) * 32 << 20)
            HashMemory.giveBack(large)
            #expect(HashMemory.keptBytes == (cores - 1) * 32 << 20 + 128 << 20)
            let again = try (0..<cores).map { _ in try #require(HashMemory.take(1 << 20)) }
            #expect(HashMemory.keptBytes == 0)
            #expect(again.contains(large))
            for block in again { HashMemory.giveBack(block) }
        }
    }

    @Test func aBlockBeginsWithAHugePageAndCanBeUsedToItsEnd() throws {
        let bytes = 33 << 20
        let block = try #require(HashMemory.take(bytes))
        #expect(UInt(bitPattern: block) % (2 << 20) == 0)
        for offset in [0, bytes - 1, (64 << 20) - 1] {
            block.storeBytes(of: 7, toByteOffset: offset, as: UInt8.self)
        }
        HashMemory.giveBack(block)
    }

    @Test(arguments: [1 << 60, Int.max - (40 << 20)])
    func memoryThatThereIsNotIsAnError(bytes: Int) {
        #expect(HashMemory.take(bytes) == nil)
    }
}
