import TestPrimitives
import Testing

@testable import HTTPEngine

@Suite struct NetstringReaderTests {
    /// What a reader with a limit of 8 bytes reads.
    private func events(_ text: String, piece: Int = .max) -> [NetstringReader.Event] {
        var reader = NetstringReader(maxBytes: 8)
        var events: [NetstringReader.Event] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: min(piece, max(1, bytes.count))) {
            let end = min(piece, bytes.count - start) + start
            bytes[start..<end].withUnsafeBytes { reader.append($0) }
            while true {
                let event = reader.next()
                if event == .needMore { break }
                events.append(event)
                if event == .invalid { return events }
            }
        }
        return events
    }

    private func read(_ text: String) -> NetstringReader.Event { .netstring(Array(text.utf8)) }

    @Test func netstringsAreReadInOrder() {
        #expect(
            events("0:,3:a b,8:12345678,1:,,") == [
                read(""), read("a b"), read("12345678"), read(","),
            ])
    }

    @Test func theSplitDoesNotMatter() {
        let text = "3:abc,0:,12:123456789012,8:x:,1:,yz,2:ab,"
        let whole = events(text)
        #expect(whole.count == 5)
        for piece in 1...text.utf8.count { #expect(events(text, piece: piece) == whole) }
    }

    @Test func everyPrefixNeedsMore() {
        let text = "8:12345678,"
        for count in 0..<text.utf8.count { #expect(events(String(text.prefix(count))).isEmpty) }
    }

    @Test(arguments: [
        ":", ":,", ",", "a", "-1:", "+1:a,", " 1:a,", "1 :a,", "00:,", "01:a,", "1;a,", "1:ab",
        "1:a;",
        "0:x", "0x1:a,", "9999999:", "100001:", "\u{661}:a,", "1:a,\n",
    ])
    func anythingElseIsInvalidAndEndsTheInput(text: String) {
        #expect(events(text).last == .invalid)
        #expect(events("1:a," + text + "1:b,").last == .invalid)
        #expect(!events(text + "1:b,").contains(read("b")))
    }

    @Test func aNetstringThatIsTooLongIsDroppedAndTheNextIsRead() {
        for length in [9, 4_096, NetstringReader.maxDroppedBytes] {
            let text = "\(length):" + String(repeating: ",", count: length) + ",2:ab,"
            for piece in [Int.max, 1_000, 7] {
                #expect(events(text, piece: piece) == [.oversized, read("ab")])
            }
            #expect(
                events("\(length):" + String(repeating: "x", count: length) + ".") == [.invalid])
        }
    }

    @Test func theSplitOfRandomInputDoesNotMatter() {
        var random = SeededGenerator(seed: 1)
        let parts = ["0:,", "3:abc,", "9:123456789,", "8:", ":", ",", "1", "0", "x", "-", "12:"]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                parts.randomElement(using: &random) ?? ""
            }.joined()
            let piece = Int.random(in: 1...9, using: &random)
            guard events(text) != events(text, piece: piece) else { continue }
            Issue.record("\(text) in pieces of \(piece)")
            return
        }
    }

    @Test func whatIsWrittenCanBeRead() {
        for content in ["", "x", "1:a,"] {
            var output: [UInt8] = []
            output.append(netstring: Array(content.utf8))
            #expect(events(String(decoding: output, as: UTF8.self)) == [read(content)])
        }
    }
}
