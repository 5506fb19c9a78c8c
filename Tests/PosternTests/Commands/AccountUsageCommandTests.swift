import AuthCore
import Testing

@testable import postern

@Suite struct AccountUsageCommandTests {
    @Test(arguments: [
        ("a@mail.test 0", 0), ("  A@mail.test\t12  ", 12),
        ("a@mail.test 9223372036854775807", Int64.max),
    ])
    func aLineIsAnAddressAndANumberOfBytes(line: String, used: Int64) throws {
        let address = try #require(Address(parsing: "a@mail.test"))
        #expect(UsageReport(line: line) == UsageReport(address: address, used: used))
    }

    @Test(arguments: [
        "", "a@mail.test", "12", "12 a@mail.test", "a@mail.test 1 2", "a@mail.test -1",
        "a@mail.test +1", "a@mail.test 1.5", "a@mail.test 1e3", "a@mail.test 0x10",
        "a@mail.test 9223372036854775808", "nonsense 1", "\u{e9}@mail.test 1",
        "a@mail.test \u{661}",
    ])
    func anyOtherLineIsNoReport(line: String) {
        #expect(UsageReport(line: line) == nil)
    }
}
