import Networking
import TestSupport
import Testing

@testable import AuthCore

/// How much mail a mailbox gets.
struct MailAllowanceTests {
    private let world: AgentWorld
    private let email = "ada@example.test"

    init() throws {
        world = try AgentWorld(limits: true)
    }

    /// Asks for a new password, ten seconds after the last request.
    private func request(_ email: String, from address: IPAddress = AgentWorld.client) async throws
    {
        world.clock.advance(by: .seconds(10))
        let caller = Caller(
            address: address, requestID: "test", now: world.clock.now,
            arrival: world.clock.monotonic)
        try await world.emailLinks.requestReset(of: email, by: caller)
    }

    private func limited(_ seconds: Int) -> AccountsError {
        .common(.rateLimited(RateLimited(retryAfter: .seconds(seconds))))
    }

    @Test func aSiteCausesThreeLinksAnHourToAnAddressWhetherItIsKnownOrNot() async throws {
        _ = try await world.addUser(email)
        for text in [email, "eve@example.test"] {
            for number in 0..<5 {
                // Each from another client of the site.
                let client = IPAddress(v4: 0xc633_6400 + UInt32(number))
                if number < 3 {
                    try await request(text, from: client)
                } else {
                    await #expect(throws: limited(1_200)) {
                        try await request(text, from: client)
                    }
                }
            }
        }
        #expect(try await world.mailer.take().count == 3)
        // Other sites are not kept from it.
        try await request(email, from: IPAddress(v4: 0xc633_6500))
        world.clock.advance(by: .seconds(3_600))
        try await request(email, from: IPAddress(v4: 0xc633_6400))
        #expect(try await world.mailer.take().count == 2)
    }

    @Test func anAddressGetsNineLinksAnHourFromAllSites() async throws {
        _ = try await world.addUser(email)
        let sites = (0..<10).map { IPAddress(v4: 0xc633_0000 + $0 << 8) }
        for site in sites.dropLast() { try await request(email, from: site) }
        // What is not sent is not counted for the site.
        for _ in 0..<4 {
            await #expect(throws: limited(400)) { try await request(email, from: sites[9]) }
        }
        #expect(try await world.mailer.take().count == 9)
    }

    @Test func aVerificationThatCannotBeQueuedCostsNothing() async throws {
        let user = try await world.addUser(email)
        for number in 0..<7 {
            world.mailer.isFull = number < 4
            do {
                try await world.emailLinks.requestVerification(of: user, by: world.caller)
            } catch AccountsError.common(.busy) {
                #expect(number < 4)
            }
        }
        #expect(try await world.mailer.take().count == 3)
    }

    @Test(arguments: [
        ("ada@example.test", "ada+1@example.test", true),
        ("ada+1@example.test", "Ada+1+2@Example.Test", true),
        ("ada@example.test", "+ada@example.test", false),
        ("+ada@example.test", "+eve@example.test", false),
        ("ada@example.test", "ada@other.test", false),
        ("ada@example.test", "adah@example.test", false),
    ])
    func addressesThatDifferAfterAPlusAreOneMailbox(
        one: String, other: String, isOne: Bool
    ) async throws {
        for text in [one, other, other] { try await request(text) }
        if isOne {
            await #expect(throws: limited(1_200)) { try await request(one) }
        } else {
            try await request(one)
        }
    }

    @Test func noticesOfAVerifiedUserAreNotUsedUpByOthers() async throws {
        let user = try await world.addUser(email)
        let other = try await world.addUser("ada+1@example.test")
        #expect(try await notices(other) == 10)
        #expect(try await notices(user) == 0)
        // Where a suffix is another mailbox, that is another person.
        #expect(try await notices(verified(other)) == 10)
        #expect(try await notices(verified(user)) == 10)
    }

    private func verified(_ user: User) -> User {
        User(
            id: user.id, email: user.email, password: user.password, created: user.created,
            emailVerified: world.clock.now)
    }

    /// Of twelve notices, how many are sent.
    private func notices(_ user: User) async throws -> Int {
        let notices = UserNotices(
            mailer: world.mailer, stores: world.stores, limiter: world.limiter)
        var count = 0
        for _ in 0..<12 {
            notices.notify(user, of: .totpEnabled, by: world.caller)
            do {
                count += try await world.mailer.take().count
            } catch is RateLimited {}
        }
        return count
    }
}
