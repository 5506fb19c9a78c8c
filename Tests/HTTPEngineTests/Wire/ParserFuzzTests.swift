import TestPrimitives
import Testing

@testable import HTTPEngine

/// Mutations of valid requests: the parser never traps, and the split of the bytes does not matter.
@Suite struct ParserFuzzTests {
    static let splices = [
        "\r\n", "\n", "\r", "\0", " ", "\t", ":", ",", "chunked", "Content-Length: 5\r\n",
        "Transfer-Encoding: chunked\r\n", "Host: b\r\n", "0\r\n\r\n", "%00", "%", "HTTP/1.1",
        "ffffffffffffffff", "99999999999999999999", ";", "Expect: 100-continue\r\n",
    ]

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func theSplitOfAMutatedRequestDoesNotMatter(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let limits = ParserLimits(
            requestLineBytes: 80, headBytes: 200, headerCount: 4, chunkExtensionBytes: 12,
            trailerBytes: 20)
        for _ in 0..<3_000 {
            let input = mutated(using: &random)
            let whole = transcript(of: input, pieces: [], limits: limits, bodyLimit: 24)
            let pieces = (0..<input.count).map { _ in Int.random(in: 1...9, using: &random) }
            let split = transcript(of: input, pieces: pieces, limits: limits, bodyLimit: 24)
            guard whole != split else { continue }
            Issue.record("\(String(decoding: input, as: UTF8.self)): \(whole) or \(split)")
            return
        }
    }

    private func mutated(using random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            bytes += Array((validRequests.randomElement(using: &random) ?? "").utf8)
        }
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let index = Int.random(in: 0..<max(1, bytes.count), using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where index < bytes.count:
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1 where index < bytes.count: bytes.remove(at: index)
            case 2:
                let splice = ParserFuzzTests.splices.randomElement(using: &random) ?? ""
                bytes.insert(contentsOf: splice.utf8, at: min(index, bytes.count))
            default:
                let end = min(bytes.count, index + Int.random(in: 0...40, using: &random))
                bytes.insert(
                    contentsOf: bytes[min(index, end)..<end], at: min(index, bytes.count))
            }
        }
        return bytes
    }
}
