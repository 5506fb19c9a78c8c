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

    @Test func theServersCaseDoesNotMatter() throws {
        let query = try DNSQuery("name.test", .mailExchanger)
        var reply = Message.answer(to: query.bytes)
        reply[13] = UInt8(ascii: "N")
        #expect(query.isAnswered(by: reply))
        reply[13] = UInt8(ascii: "M")
        #expect(!query.isAnswered(by: reply))
    }
}
