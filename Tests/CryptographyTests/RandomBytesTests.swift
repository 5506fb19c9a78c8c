import Cryptography
import Testing

@Suite struct RandomBytesTests {
    @Test(arguments: [0, 1, 16, 255, 256, 257, 1000])
    func returnsTheRequestedNumberOfBytes(count: Int) {
        #expect(RandomBytes.make(count).count == count)
    }

    @Test func twoCallsDiffer() {
        let draws = (0..<1_000).map { _ in RandomBytes.make(16) }
        #expect(Set(draws).count == draws.count)
    }

    @Test func everyChunkIsFilled() {
        // Longer than one draw from the kernel, several times over.
        let bytes = RandomBytes.make(2_000)
        for start in stride(from: 0, to: 2_000, by: 250) {
            #expect(bytes[start..<(start + 250)].contains { $0 != 0 })
        }
        #expect(Set(bytes).count > 200)
    }
}
