import AuthCore
import Testing

@testable import AuthStorage

@Suite(.indexesAreUsed) struct HashLoginStoreTests {
    @Test(arguments: Engine.allCases)
    func everyFieldIsStoredAndRead(engine: Engine) async throws {
        let store = try await engine.open()
        let login = try login("o'neil+x@example.com", version: 7)
        #expect(try await store.insert(login, recording: event))
        #expect(try await store.hashLogin(email: login.email) == login)
        #expect(try await store.hashLogin(email: email("nobody@example.com")) == nil)
    }

    @Test(arguments: Engine.allCases)
    func ofRacingRegistrationsOfOneEmailOneSucceeds(engine: Engine) async throws {
        let store = try await engine.open()
        let login = try login("a@example.com")
        let event = self.event
        let inserted = try await winners(of: 50) { _ in
            try await store.insert(login, recording: event)
        }
        #expect(inserted == 1)
        #expect(try await store.latestEvents(limit: 100).count == 1)
    }

    @Test(arguments: Engine.allCases)
    func endingLoginsIncreasesTheVersionOncePerVersion(engine: Engine) async throws {
        let store = try await engine.open()
        let login = try login("a@example.com")
        let event = self.event
        _ = try await store.insert(login, recording: event)
        let ended = try await winners(of: 20) { _ in
            try await store.endLogins(of: login.email, at: 1, recording: event)
        }
        #expect(ended == 1)
        #expect(try await store.hashLogin(email: login.email)?.credentialVersion == 2)
        #expect(try await store.endLogins(of: login.email, at: nil, recording: event))
        #expect(try await store.hashLogin(email: login.email)?.credentialVersion == 3)
        #expect(try await store.latestEvents(limit: 100).count == 3)
    }

    @Test(arguments: Engine.allCases)
    func loginsOfAnUnknownEmailCannotBeEnded(engine: Engine) async throws {
        let store = try await engine.open()
        let nobody = try email("nobody@example.com")
        #expect(try await !store.endLogins(of: nobody, at: nil, recording: event))
        #expect(try await store.latestEvents(limit: 100).isEmpty)
    }

    @Test(arguments: Engine.allCases)
    func aDeletedRegistrationIsGoneAndItsTokensStayInvalid(engine: Engine) async throws {
        let store = try await engine.open()
        let login = try login("a@example.com", version: 3)
        _ = try await store.insert(login, recording: event)
        let event = self.event
        let deleted = try await winners(of: 20) { _ in
            try await store.deleteHashLogin(of: login.email, recording: event)
        }
        #expect(deleted == 1)
        #expect(try await store.latestEvents(limit: 100).count == 2)
        #expect(try await store.hashLogin(email: login.email) == nil)
        #expect(try await store.hashLogins(after: nil, limit: 9).isEmpty)
        #expect(try await !store.endLogins(of: login.email, at: nil, recording: event))
        #expect(
            try await store.insert(try self.login("a@example.com"), recording: event))
        #expect(try await store.hashLogin(email: login.email)?.credentialVersion == 4)
        #expect(
            try await !store.insert(try self.login("a@example.com"), recording: event))
    }

    @Test(arguments: Engine.allCases)
    func registrationsAreListedByEmailInPages(engine: Engine) async throws {
        let store = try await engine.open()
        let all = try ["c@x.test", "a@x.test", "b@x.test"].map { try login($0) }
        for one in all { _ = try await store.insert(one, recording: event) }
        #expect(try await store.hashLogins(after: nil, limit: 2) == [all[1], all[2]])
        #expect(try await store.hashLogins(after: all[2].email, limit: 2) == [all[0]])
        #expect(try await store.hashLogins(after: nil, limit: 0).isEmpty)
    }

    private var event: AuditEvent {
        AuditEvent(.hashLoginCreated, time: .epoch, actor: .anonymous, subject: "a@example.com")
    }

    private func email(_ text: String) throws -> Email {
        try #require(Email(parsing: text))
    }

    private func login(_ text: String, version: Int64 = 1) throws -> HashLogin {
        HashLogin(
            email: try email(text), url: HashURL(text: "https://example.com/hash.txt"),
            credentialVersion: version, created: Instant(seconds: 5))
    }
}
