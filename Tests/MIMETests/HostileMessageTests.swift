import MIME
import TestPrimitives
import Testing

@Suite struct HostileMessageTests {
    /// Reads what can be read of a message, and checks what always holds.
    /// - Parameter every: of so many fields, one is read in all its forms.
    private func exercise(_ bytes: [UInt8], every: Int = 1) throws {
        let message = try ParsedMessage(bytes)
        let parts = message.root.all
        let leaves = parts.filter { !$0.isMultipart }
        let ids = Set(leaves.compactMap(\.partId))
        #expect(ids.count == leaves.count)
        var end = 0
        for part in leaves {
            let isAfter = part.contentRange.lowerBound >= end
            end = part.contentRange.upperBound
            let hasSize = message.content(of: part).count == part.size
            let hasOnlyLF = !message.text(of: part).text.utf8.contains(13)
            #expect(isAfter && hasSize && hasOnlyLF)
        }
        #expect(end <= bytes.count)
        let shown = message.textBody + message.htmlBody + message.attachments
        #expect(ids.isSuperset(of: shown.compactMap(\.partId)))
        #expect(message.preview.unicodeScalars.count <= 256)
        for part in parts {
            for index in stride(from: bytes.count % every, to: part.header.fields.count, by: every)
            {
                exercise(part.header.fields[index])
            }
        }
    }

    private func exercise(_ field: HeaderField) {
        let addresses = field.addresses.map { $0.email + ($0.name ?? "") }.joined()
        let hasControls = (field.text + addresses).utf8.contains { $0 < 0x20 && $0 != 9 }
        #expect(!hasControls)
        _ = field.messageIds
        _ = field.urls
        if let date = field.date { #expect((try? date.rfc3339())?.utf8.count == 25) }
    }

    @Test(arguments: Samples.names)
    func everyPrefixOfAMessageIsRead(name: String) throws {
        let bytes = try Samples.bytes(name)
        for count in 0...bytes.count { try exercise(Array(bytes[..<count]), every: 4) }
    }

    private static let fragments = [
        "--", "--outer", "\r\n--b--\r\n", "\r\n\r\n", "\n", "\r", "=?utf-8?B?", "?=", "=?x?q?",
        "boundary=",
        "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n", "\u{0}", "\"", "\\", "(", "<",
        ":", ";", ",",
        "Content-Transfer-Encoding: base64\r\n\r\n", "filename*0*=utf-8''%", "*1*=%ff", "=",
        "=3D=\r\n",
        "Content-Type: text/html; charset=utf-7\r\n\r\n", "charset=iso-2022-jp", "\u{1B}$B",
        "<script", "&#x", "-->",
        "From: a:b:c <", "Date: Mon, 1 Jan 2024 24:00:60 -2400\r\n", "begin 644 x\r\n",
        "x-uuencode",
    ].map { Array($0.utf8) }

    /// Cuts, copies, mixes and changes parts of the messages.
    private func mutate(
        _ bytes: inout [UInt8], _ others: [[UInt8]], _ generator: inout SeededGenerator
    ) {
        func range(_ bytes: [UInt8], most: Int) -> Range<Int> {
            let start = Int.random(in: 0...bytes.count, using: &generator)
            let count = Int.random(in: 0...most, using: &generator)
            return start..<min(bytes.count, start + count)
        }
        let place = Int.random(in: 0...bytes.count, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes.removeSubrange(range(bytes, most: 100))
        case 1: bytes.insert(contentsOf: bytes[range(bytes, most: 200)], at: place)
        case 2:
            let other = others[Int.random(in: 0..<others.count, using: &generator)]
            bytes.insert(contentsOf: other[range(other, most: 500)], at: place)
        case 3 where place < bytes.count:
            bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 4 where place < bytes.count:
            bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        default:
            let index = Int.random(in: 0..<Self.fragments.count, using: &generator)
            bytes.insert(contentsOf: Self.fragments[index], at: place)
        }
    }

    @Test func mixedAndChangedMessagesAreRead() throws {
        let samples = try Samples.names.map(Samples.bytes)
        var generator = SeededGenerator(seed: 5322)
        for _ in 0..<10_000 {
            var bytes = samples[Int.random(in: 0..<samples.count, using: &generator)]
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                mutate(&bytes, samples, &generator)
            }
            try exercise(bytes, every: 8)
        }
    }

    @Test func messagesAreReadByManyThreadsAtOnce() async throws {
        let samples = try Samples.names.map(Samples.bytes)
        let expected = try samples.map { try ParsedMessage($0).preview }
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await onOwnThread {
                        for _ in 0..<20 { for bytes in samples { try exercise(bytes) } }
                        return try samples.map { try ParsedMessage($0).preview }
                    }
                }
            }
            for try await previews in group { #expect(previews == expected) }
        }
    }
}
