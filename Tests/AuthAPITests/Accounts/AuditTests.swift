import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// What requests to the accounts API leave in the audit log.
struct AuditTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test func failuresAndSuccessesOfAUserHaveTheSameSubject() async throws {
        let pro = try await api.pro("ada@example.com")
        let wrong = await api.call(
            .post, "/api/user/login", json: #"{"email":"Ada@example.com","password":"wrong"}"#)
        try expectError(wrong, 401, "invalid_credentials")
        let change = await api.call(
            .put, "/api/user/password", bearer: pro,
            json: #"{"current_password":"wrong again","password":"newpassword"}"#)
        try expectError(change, 401, "invalid_credentials")
        let events = try await api.world.events
        // The second failure is counted in the event of the first.
        #expect(events.map(\.kind) == [.userCreated, .loginSucceeded, .loginFailed])
        #expect(Set(events.map(\.subject)) == ["ada@example.com"])
    }

    @Test func loginsToAMailboxAndToAUserOfOneNameAreThrottledApart() async throws {
        _ = try await api.account("demo@mail.test")
        _ = try await api.pro("demo@mail.test")
        for number in 0..<12 {
            _ = await api.call(
                .post, "/api/user/login",
                json: #"{"email":"demo@mail.test","password":"guess-\#(number)"}"#)
        }
        let limited = await api.call(
            .post, "/api/user/login", json: #"{"email":"demo@mail.test","password":"guess"}"#)
        try expectError(limited, 429, "rate_limit_exceeded")
        #expect(await api.login("demo@mail.test").status == .ok)
    }

    @Test func anEventHasTheTimeTheClientAndTheIDOfItsRequest() async throws {
        let (id, token) = try await api.account("demo@mail.test")
        api.world.clock.advance(by: .seconds(5))
        let reset = await api.call(
            .put, "/api/accounts/\(id)/reset-password", bearer: token,
            json: #"{"password":"another-one"}"#)
        #expect(reset.status == .ok)
        let event = try #require(try await api.world.events.last)
        #expect(event.kind == .credentialReset && event.subject == "demo@mail.test")
        #expect(event.actor.description == "account:\(id)")
        #expect(event.time == api.world.clock.now)
        #expect(event.client == "127.0.0.1")
        #expect(event.requestID == RequestID(prefix: 0, number: 0).description)
    }
}
