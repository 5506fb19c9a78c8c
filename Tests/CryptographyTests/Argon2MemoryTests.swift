import Testing

@testable import Cryptography

/// In processes of their own: other tests compute hashes meanwhile.
@Suite struct Argon2MemoryTests {
    private static func hash(memoryKiB: Int) throws -> [UInt8] {
        try Argon2.hash(
            password: [1], salt: [UInt8](repeating: 2, count: 16), iterations: 1,
            memoryKiB: memoryKiB, parallelism: 1, outputBytes: 32, variant: .argon2id)
    }

    @Test func aBlockIsKeptForTheNextHashAndReleased() async {
        await #expect(processExitsWith: .success) {
            let first = try Self.hash(memoryKiB: 1024)
            let kept = Argon2Memory.keptBytes
            #expect(kept > 0)
            #expect(try Self.hash(memoryKiB: 1024) == first)
            _ = try Self.hash(memoryKiB: 2048)
            #expect(Argon2Memory.keptBytes == kept)
            Argon2Memory.release()
            #expect(Argon2Memory.keptBytes == 0)
            #expect(try Self.hash(memoryKiB: 1024) == first)
        }
    }

    @Test func aKeptBlockHoldsNothing() async throws {
        await #expect(processExitsWith: .success) {
            _ = try Self.hash(memoryKiB: 1024)
            let bytes = 1024 * 1024
            let block = try #require(Argon2Memory.take(bytes))
            let content = UnsafeRawBufferPointer(start: block, count: bytes)
            #expect(content.allSatisfy { $0 == 0 })
        }
    }

    @Test func noMoreBlocksAreKeptThanCoresCompute() async {
        await #expect(processExitsWith: .success) {
            let blocks = try (0..<100).map { _ in try #require(Argon2Memory.take(4096)) }
            Argon2Memory.giveBack(blocks[0], 4096)
            let one = Argon2Memory.keptBytes
            for block in blocks.dropFirst() { Argon2Memory.giveBack(block, 4096) }
            #expect(Argon2Memory.keptBytes <= 64 * one)
        }
    }

    @Test func memoryThatThereIsNotIsAnError() {
        #expect(Argon2Memory.take(1 << 60) == nil)
    }
}
