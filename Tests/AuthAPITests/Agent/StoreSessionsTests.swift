import AuthCore
import HTTPEngine
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI

/// Session objects from the mail store: how often it is asked, with which token, and what clients
/// get when it does not answer.
struct StoreSessionsTests {
    private struct Silent: Error, CustomStringConvertible {
        let description = "the host did not answer in time"
    }

    private let tokens = Record<String>()
    private let reports = Record<String>()

    private func sessions(
        lifetime: Duration = .seconds(5), sendsStoreToken: Bool = false,
        answer: @escaping @Sendable (String) async throws -> String = { _ in
            StoreSessionTests.object
        }
    ) -> StoreSessions {
        StoreSessions(
            storeURL: "http://127.0.0.1:8008", clientURL: "https://mail.test", lifetime: lifetime,
            sendsStoreToken: sendsStoreToken,
            fetch: { [tokens] token, _ in
                tokens.add(token)
                return Array(try await answer(token).utf8)
            }, report: { [reports] in reports.add($0) })
    }

    private func ask(
        _ sessions: StoreSessions, _ subject: String, at world: AgentWorld
    ) async throws -> JSONObject {
        let response = try await sessions.session(of: subject, by: world.caller) {
            () async throws(AgentError) in "token of \(subject)"
        }
        #expect(response.header("Cache-Control") == "no-store")
        return try response.json
    }

    @Test func anObjectIsFetchedOnceInItsLifetimeForEachMailbox() async throws {
        let world = try AgentWorld()
        let sessions = sessions()
        for _ in 0..<3 { _ = try await ask(sessions, "a", at: world) }
        _ = try await ask(sessions, "b", at: world)
        #expect(tokens.entries == ["token of a", "token of b"])
        world.clock.advance(by: .milliseconds(4999))
        _ = try await ask(sessions, "a", at: world)
        #expect(tokens.entries.count == 2)
        world.clock.advance(by: .milliseconds(1))
        _ = try await ask(sessions, "a", at: world)
        #expect(tokens.entries.count == 3)
    }

    @Test func withoutALifetimeEveryRequestIsAFetch() async throws {
        let world = try AgentWorld()
        let sessions = sessions(lifetime: .zero)
        for _ in 0..<3 { _ = try await ask(sessions, "a", at: world) }
        #expect(tokens.entries.count == 3)
    }

    @Test func requestsAtOnceShareOneFetch() async throws {
        let world = try AgentWorld()
        let (begun, end) = (Level(), Level())
        let sessions = sessions { _ in
            begun.raise()
            await end.reaches(1)
            return StoreSessionTests.object
        }
        async let one = ask(sessions, "a", at: world)
        await begun.reaches(1)
        async let other = ask(sessions, "a", at: world)
        end.raise()
        #expect(try await [one, other].allSatisfy { $0.text("state") == "17" })
        #expect(tokens.entries.count == 1)
    }

    @Test func moreMailboxesThanFitAreStillAnswered() async throws {
        let world = try AgentWorld()
        let sessions = sessions()
        for number in 0..<600 { _ = try await ask(sessions, "\(number)", at: world) }
        #expect(tokens.entries.count == 600)
        _ = try await ask(sessions, "599", at: world)
        #expect(tokens.entries.count == 600)
    }

    @Test func anObjectWithoutMailIsNotKept() async throws {
        let world = try AgentWorld()
        let sessions = sessions { _ in
            StoreSessionTests.object.replacing("urn:ietf:params:jmap:mail", with: "urn:other")
        }
        for _ in 0..<2 { _ = try await ask(sessions, "a", at: world) }
        #expect(tokens.entries.count == 2)
    }

    @Test func aFailureIsReportedAndNotKept() async throws {
        let world = try AgentWorld()
        let answers = Record<Int>()
        let sessions = sessions { _ in
            answers.add(1)
            if answers.entries.count == 1 { throw Silent() }
            return answers.entries.count == 2 ? "[]" : StoreSessionTests.object
        }
        for _ in 0..<2 {
            await #expect(throws: AgentError.mailStoreUnavailable) {
                try await ask(sessions, "a", at: world)
            }
        }
        #expect(try await ask(sessions, "a", at: world).text("state") == "17")
        #expect(
            reports.entries == [
                "the host did not answer in time", "its session is not a JSON object",
            ])
    }

    @Test func aFullQueueIsBusyAndNoFailureOfTheStore() async throws {
        let world = try AgentWorld()
        let sessions = sessions { _ in throw CommonError.busy(retryAfter: .seconds(2)) }
        await #expect(throws: AgentError.common(.busy(retryAfter: .seconds(2)))) {
            try await ask(sessions, "a", at: world)
        }
        #expect(reports.entries.isEmpty)
    }

    // MARK: The endpoint

    private func capability(_ api: APIWorld) async throws -> String {
        let session = try await api.signUp("myagent").session
        return try await api.call(.post, "/api/v1/capability", bearer: session).bearer
    }

    @Test func theStoreGetsTheCapabilityOfTheClient() async throws {
        let api = try APIWorld(storeSessions: sessions())
        let capability = try await capability(api)
        let response = await api.call(.get, "/.well-known/jmap", bearer: capability)
        #expect(response.status == .ok)
        #expect(try response.json.text("apiUrl") == "https://mail.test/jmap/")
        #expect(tokens.entries == [capability])
    }

    @Test func theStoreGetsAMinimalCapabilityWhereProxiesSendOne() async throws {
        let api = try APIWorld(storeSessions: sessions(sendsStoreToken: true))
        let capability = try await capability(api)
        #expect(await api.call(.get, "/.well-known/jmap", bearer: capability).status == .ok)
        let sent = try #require(tokens.entries.first)
        #expect(sent != capability)
        let read = try await api.world.tokens.read(
            sent, as: MinimalCapabilityToken.self, at: api.world.clock.now)
        #expect(read?.token.subject == "myagent@mail.test")
    }

    @Test func whileTheStoreDoesNotAnswerClientsLearnWhenToRetryAndNotWhy() async throws {
        let api = try APIWorld(storeSessions: sessions { _ in throw Silent() })
        let capability = try await capability(api)
        let response = await api.call(.get, "/.well-known/jmap", bearer: capability)
        #expect(response.status == .serviceUnavailable)
        #expect(response.header("Retry-After") == "5")
        let error = try response.agentError
        #expect(error.message == "The mail store does not answer" && error.anchor == "jmap")
        #expect(!error.hint.contains("in time"))
    }

    @Test func theStoreIsNotAskedForATokenThatIsNotValid() async throws {
        let api = try APIWorld(storeSessions: sessions())
        let session = try await api.signUp("myagent").session
        for bearer in [nil, session] {
            let response = await api.call(.get, "/.well-known/jmap", bearer: bearer)
            #expect(response.status == .unauthorized)
        }
        #expect(tokens.entries.isEmpty)
    }
}
