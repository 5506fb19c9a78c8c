import AuthCore
import Networking
import Testing

struct AuditEventTests {
    private static let id = "a1b2c3d4-e5f6-7890-abcd-1234567890ab"

    @Test(
        arguments: [
            ("anonymous", AuditEvent.Actor.anonymous), ("operator", .operator), ("server", .server),
            ("account:\(id)", AccountID(id).map { .account($0) }),
            ("user:\(id)", UserID(id).map { .user($0) }),
            ("o'neil+x@example.com", Email(parsing: "o'neil+x@example.com").map { .email($0) }),
        ] as [(String, AuditEvent.Actor?)])
    func theStoredTextOfAnActorIsReadAsTheSameActor(
        text: String, actor: AuditEvent.Actor?
    ) throws {
        let actor = try #require(actor)
        #expect(actor.description == text)
        #expect(AuditEvent.Actor(text) == actor)
    }

    @Test(arguments: [
        "", "Anonymous", "root", "account:", "account:7", "user:", "user:a@example.com", "account",
        "ADA@example.com", " ada@example.com", "ada@localhost", "token:\(id)", id,
    ])
    func anyOtherTextIsNotAnActor(text: String) {
        #expect(AuditEvent.Actor(text) == nil)
    }

    @Test func anEventOfARequestHasItsTimeItsClientAndItsID() {
        let caller = Caller(
            address: IPAddress(v4: 0xc000_0207), requestID: "r-1", now: Instant(seconds: 7),
            arrival: .now)
        let event = AuditEvent(.tokenCreated, by: caller, actor: .operator, subject: "t-1")
        #expect(
            event
                == AuditEvent(
                    .tokenCreated, time: Instant(seconds: 7), actor: .operator, subject: "t-1",
                    client: "192.0.2.7", requestID: "r-1"))
    }

    @Test func anEventOfACommandHasNoClientAndNoRequest() {
        let event = AuditEvent(
            .keyRotated, time: Instant(seconds: 7), actor: .operator, subject: "k-1")
        #expect(event.client == "" && event.requestID == "")
    }
}
