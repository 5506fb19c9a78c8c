import AuthCore
import StrictJSON
import Testing

@testable import postern

@Suite struct AuditCommandTests {
    private let now = Instant(seconds: 1_000_000)

    @Test(arguments: [
        ("1d", Int64(913_600)), ("90m", 994_600), ("1970-01-02", 86_400),
        ("1970-01-02T00:00:01Z", 86_401), ("2026-01-15T10:30:00Z", 1_768_473_000),
    ])
    func sinceIsATimeOrAnAge(text: String, seconds: Int64) {
        #expect(Instant(since: text, now: now) == Instant(seconds: seconds))
    }

    @Test(arguments: [
        "", "7", "d", "-1d", "1w", "yesterday", "2026-02-29", "2026-01-15T10:30:00+01:00",
        "2026-01-15 10:30:00Z",
    ])
    func anyOtherTextIsNoTime(text: String) {
        #expect(Instant(since: text, now: now) == nil)
    }

    private let event = AuditEvent(
        .loginFailed, time: Instant(seconds: 0), actor: .anonymous, subject: "a\u{1b}[2J\n\"",
        client: "192.0.2.1", requestID: "1-2")

    @Test func aTextLineContainsNoControlCharacters() {
        #expect(
            AuditOutput.line(AuditRecord(sequence: 7, event: event))
                == "1970-01-01T00:00:00Z  login_failed  anonymous  a\\u001b[2J\\u000a\"  192.0.2.1"
                + "  1-2")
        let own = AuditEvent.byOperator(.userCreated, "a")
        #expect(
            AuditOutput.line(AuditRecord(sequence: 8, event: own))
                .hasSuffix("  user_created  operator  a  -  -"))
        #expect(
            AuditOutput.line(AuditRecord(sequence: 9, event: event, count: 12))
                .hasSuffix("  192.0.2.1  1-2  12 times"))
    }

    @Test func aJSONLineIsOneObject() throws {
        let bytes = AuditOutput.json(AuditRecord(sequence: 7, event: event, count: 3))
        #expect(!bytes.contains(0x0a))
        let object = try #require(try JSONValue.parse(bytes).object)
        #expect(object["sequence"] == .integer(7))
        #expect(object["time"] == .string("1970-01-01T00:00:00Z"))
        #expect(object["kind"] == .string("login_failed"))
        #expect(object["subject"] == .string("a\u{1b}[2J\n\""))
        #expect(object["client"] == .string("192.0.2.1"))
        #expect(object["request_id"] == .string("1-2"))
        #expect(object["count"] == .integer(3))
    }
}
