import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// What the accounts surface leaves on record: who, what, to whom, from where, in which request.
struct RecordTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test func aUsersFailuresAndSuccessesAreOfOneSubject() async throws {
        let pro = try await api.pro("ada@example.com")
        let wrong = await api.call(
            .post, "/api/user/login", json: #"{"email":"Ada@example.com","password":"wrong"}"#)
        try expectRefusal(wrong, 401, "invalid_credentials")
        let change = await api.call(
            .put, "/api/user/password", bearer: pro,
            json: #"{"current_password":"wrong again","password":"newpassword"}"#)
        try expectRefusal(change, 401, "invalid_credentials")
        let told = try await api.world.events
        #expect(
            told.map(\.kind) == [.userCreated, .loginSucceeded, .loginFailed, .loginFailed])
        #expect(Set(told.map(\.subject)) == ["ada@example.com"])
    }

    @Test func aMailboxAndAUserOfOneNameAreSlowedApart() async throws {
        _ = try await api.account("demo@mail.test")
        _ = try await api.pro("demo@mail.test")
        for number in 0..<12 {
            _ = await api.call(
                .post, "/api/user/login",
                json: #"{"email":"demo@mail.test","password":"guess-\#(number)"}"#)
        }
        let slowed = await api.call(
            .post, "/api/user/login", json: #"{"email":"demo@mail.test","password":"guess"}"#)
        try expectRefusal(slowed, 429, "rate_limit_exceeded")
        #expect(await api.login("demo@mail.test").status == .ok)
    }

    @Test func everyEventHasItsTimeItsClientAndItsRequest() async throws {
        let (id, token) = try await api.account("demo@mail.test")
        api.world.clock.advance(by: .seconds(5))
        let reset = await api.call(
            .put, "/api/accounts/\(id)/reset-password", bearer: token,
            json: #"{"password":"another-one"}"#)
        #expect(reset.status == .ok)
        let event = try #require(try await api.world.events.last)
        #expect(event.kind == .credentialReset && event.subject == "demo@mail.test")
        #expect(event.actor == "account:\(id)")
        #expect(event.time == api.world.clock.now)
        #expect(!event.client.isEmpty && !event.requestID.isEmpty)
    }
}
