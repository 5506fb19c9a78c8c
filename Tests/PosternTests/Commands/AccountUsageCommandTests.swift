import Testing

@testable import postern

@Suite struct AccountUsageCommandTests {
    @Test(arguments: [
        ("a@mail.test 0", "a@mail.test", 0), ("  A@mail.test\t12  ", "A@mail.test", 12),
        ("alice 9223372036854775807", "alice", Int64.max),
    ])
    func aLineIsAMailboxAndANumberOfBytes(line: String, name: String, used: Int64) throws {
        let usage = try #require(MailboxUsage(line: line))
        #expect(usage.name == name && usage.used == used)
    }

    @Test(arguments: [
        "", "a@mail.test", "12", "12 a@mail.test", "a@mail.test 1 2", "a@mail.test -1",
        "a@mail.test +1", "a@mail.test 1.5", "a@mail.test 1e3", "a@mail.test 0x10",
        "a@mail.test 9223372036854775808", "a@mail.test \u{661}",
    ])
    func anyOtherLineIsNoReport(line: String) {
        #expect(MailboxUsage(line: line) == nil)
    }
}
