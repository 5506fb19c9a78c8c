import TestPrimitives
import Testing

@testable import Fetching

@Suite struct DNSQueryTests {
    @Test func aQueryAsksForTheNameAsWritten() throws {
        let query = try DNSQuery("Name.test", .text).bytes
        // Recursion desired, one question, nothing else.
        #expect(query[2...3] == [1, 0])
        #expect(query[4..<12] == [0, 1, 0, 0, 0, 0, 0, 0])
        #expect(query[12...] == (Message.name("Name.test") + [0, 16, 0, 1])[...])
    }

    @Test func numbersCannotBeGuessed() throws {
        let numbers = try (0..<100).map { _ in try DNSQuery("a.test", .text).bytes[..<2] }
        #expect(Set(numbers).count > 90)
    }

    @Test(arguments: [0, 1])
    func anAnswerHasBothBytesOfTheNumber(index: Int) throws {
        let query = try DNSQuery("name.test", .text)
        var reply = Message.answer(to: query.bytes)
        #expect(query.isAnswered(by: reply))
        reply[index] ^= 1
        #expect(!query.isAnswered(by: reply))
    }

    @Test func theServersCaseDoesNotMatter() throws {
        let query = try DNSQuery("name.test", .mailExchanger)
        var reply = Message.answer(to: query.bytes)
        reply[13] = UInt8(ascii: "N")
        #expect(query.isAnswered(by: reply))
        reply[13] = UInt8(ascii: "M")
        #expect(!query.isAnswered(by: reply))
    }
}

@Suite struct DNSAnswerTests {
    private let question: [UInt8] =
        [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Message.name("name.test") + [0, 16, 0, 1]

    private func values(_ bytes: [UInt8], _ kind: DNSRecordKind = .text) throws -> [[UInt8]] {
        try DNSAnswer(bytes).values(kind)
    }

    @Test func everyPrefixOfAnAnswerIsMalformed() throws {
        let whole = Message.answer(
            to: question, [Message.text("abc", "def"), Message.mailExchanger(1, "mx.test")])
        #expect(try values(whole) == [Array("abcdef".utf8)])
        for count in 0..<whole.count {
            #expect(throws: DNSError.Cause.malformed) { try values(Array(whole[..<count])) }
        }
    }

    @Test func noChangedAnswerTraps() {
        var generator = SeededGenerator(seed: 7)
        let whole = Message.answer(
            to: question, [Message.text("abc"), Message.mailExchanger(1, "mx.name.test")])
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(
                    in: .min ... .max, using: &generator)
            }
            for kind in [DNSRecordKind.text, .mailExchanger] {
                let taken = (try? values(bytes, kind)) ?? []
                #expect(taken.allSatisfy { $0.count <= 1025 })
            }
        }
    }

    @Test func aStringLongerThanItsRecordIsMalformed() {
        let record = Message.Record(type: Message.text, data: [5, 0x61, 0x62])
        #expect(throws: DNSError.Cause.malformed) {
            try values(Message.answer(to: question, [record]))
        }
    }

    @Test(arguments: [[], [0], [0, 1], [0, 1, 0xc0], [0, 1, 0xc0, 0xff], [0, 1, 5, 0x61]])
    func anExchangerWithoutAHostIsMalformed(data: [UInt8]) {
        let record = Message.Record(type: Message.mailExchanger, data: data)
        #expect(throws: DNSError.Cause.malformed) {
            try values(Message.answer(to: question, [record]), .mailExchanger)
        }
    }

    @Test func aNameThatPointsToItselfIsMalformed() {
        let start = UInt8(question.count + 12 + 2)
        let record = Message.Record(type: Message.mailExchanger, data: [0, 1, 0xc0, start])
        #expect(throws: DNSError.Cause.malformed) {
            try values(Message.answer(to: question, [record]), .mailExchanger)
        }
    }
}
