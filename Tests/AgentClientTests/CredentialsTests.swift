import AuthCore
import StrictJSON
import TestPrimitives
import Testing

@testable import AgentClient
@testable import Platform

@Suite struct CredentialsTests {
    private func credentials() throws -> Credentials {
        Credentials(
            server: try #require(BaseURL("http://auth.test")),
            account: NewAccount(inbox: "a@mail.test", accountID: "id", apiKey: "k\"\n"),
            created: Instant(seconds: 1_768_473_000))
    }

    @Test func theyAreOneJSONObject() throws {
        let object = try #require(try JSONValue.parse(try credentials().json).object)
        #expect(
            object.members.map(\.name) == ["server", "inbox", "accountId", "apiKey", "createdAt"])
        #expect(object["apiKey"] == .string("k\"\n"))
        #expect(object["createdAt"] == .string("2026-01-15T10:30:00Z"))
    }

    @Test func theFileIsForTheOwnerOnlyAndNotOverwritten() throws {
        let scratch = Scratch()
        let path = "\(scratch.path)/c.json"
        try credentials().write(to: path, force: false)
        #expect(Scratch.mode(of: path) == 0o600)
        #expect(throws: FileError.exists) { try credentials().write(to: path, force: false) }
        try credentials().write(to: path, force: true)
        #expect(scratch.names == ["c.json"])
    }

    @Test func theTextReportHasNoAPIKey() throws {
        let report = SignupReport(try credentials(), path: "c.json")
        #expect(!report.text.contains("k\""))
        #expect(report.text.contains("c.json"))
    }

    @Test func theJSONReportHasTheAPIKey() throws {
        var report = SignupReport(try credentials(), path: nil)
        report.mailServer = MailServer(apiURL: "http://jmap.test/", accountID: nil)
        let object = try #require(try JSONValue.parse(Array(report.json.utf8)).object)
        #expect(object["apiKey"] == .string("k\"\n"))
        #expect(object["jmapApiUrl"] == .string("http://jmap.test/"))
        #expect(object["credentialsFile"] == .null)
    }
}
