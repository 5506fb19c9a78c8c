import HTTPEngine
import Networking
import TestPrimitives
import Testing

@testable import AuthAPI

@Suite struct ACMEChallengesTests {
    private static let path = "/.well-known/acme-challenge/"

    /// The router of a listener that redirects, and the names of the files that were asked for.
    private func redirects() throws -> (Router, Record<String>) {
        let asked = Record<String>()
        let agent = try APIWorld().agent
        let challenges = ACMEChallenges(agent: agent) { name in
            asked.add(name)
            return name == "known_1-A" ? Array("content".utf8) : nil
        }
        let router = Router(
            groups: [challenges.routes], redirectingTo: "https://a.test",
            fallback: agent.errors.renderer)
        return (router, asked)
    }

    @Test func aFileIsServedByItsName() async throws {
        let (router, _) = try redirects()
        let target = Self.path + "known_1-A"
        let response = await router.respond(to: Request(method: .get, target: target))
        #expect(response.status == .ok && response.body == Array("content".utf8))
        let missing = await router.respond(to: Request(method: .get, target: Self.path + "other"))
        #expect(missing.status == .notFound)
    }

    @Test(arguments: [
        "a.b", "..", "%2e%2e", "a%2fb", "a%00", "%c3%a9", "a+b", "a=", "a~b",
        String(repeating: "x", count: 129),
    ])
    func anotherNameIsNotLookedFor(name: String) async throws {
        let (router, asked) = try redirects()
        let response = await router.respond(
            to: Request(method: .get, target: Self.path + name))
        #expect(response.status != .ok)
        #expect(asked.entries.isEmpty)
    }
}
