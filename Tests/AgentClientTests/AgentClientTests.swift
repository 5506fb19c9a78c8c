import AuthCore
import Fetching
import StrictJSON
import Synchronization
import Testing

@testable import AgentClient

/// A server that returns the given responses in order and keeps the requests.
final class ScriptedServer: Sendable {
    private let state: Mutex<(answers: [FetchedResponse], asked: [OutboundRequest])>
    private let pauses = Mutex<[Duration]>([])

    init(_ answers: [FetchedResponse]) {
        state = Mutex((answers, []))
    }

    var asked: [OutboundRequest] { state.withLock { $0.asked } }
    var paused: [Duration] { pauses.withLock { $0 } }

    func client() throws -> AgentAPIClient {
        AgentAPIClient(
            server: try #require(BaseURL("http://auth.test")),
            send: { request in
                self.state.withLock { state in
                    state.asked.append(request)
                    return state.answers.removeFirst()
                }
            }, pause: { duration in self.pauses.withLock { $0.append(duration) } })
    }
}

func answer(
    _ status: Int, _ body: String = "{}", _ headers: [(name: String, value: String)] = []
) -> FetchedResponse {
    FetchedResponse(status: status, headers: headers, body: Array(body.utf8))
}

@Suite struct AgentClientTests {
    private let solution = Solution(nonce: Nonce(7), digest: [UInt8](repeating: 0, count: 64))

    @Test func aSignupSendsTheProofAndReadsTheCredentials() async throws {
        let server = ScriptedServer([
            answer(
                201, #"{"apiKey":"k","inbox":"a@mail.test","accountId":"id"}"#,
                [("authorization", "Bearer session")])
        ])
        let challenge = try ServerChallenge(
            token: token(#"{"jti":"abc","difficulty":1,"salt":"00"}"#))
        let (session, account) = try await server.client().signup(
            "agent", challenge: challenge, solution: solution)
        #expect(session == "session")
        #expect(account == NewAccount(inbox: "a@mail.test", accountID: "id", apiKey: "k"))
        let asked = try #require(server.asked.first)
        #expect(asked.url == "http://auth.test/api/v1/session")
        let bearer = asked.headers.first { $0.name == "Authorization" }?.value
        #expect(bearer == "Bearer \(challenge.token)")
        let body = try #require(try JSONValue.parse(asked.body).object)
        #expect(body["nonce"] == .string("7"))
        #expect(body["powHex"] == .string(String(repeating: "0", count: 128)))
        #expect(body["username"] == .string("agent"))
    }

    @Test func aBusyServerIsAskedAgainAfterItsRetryTime() async throws {
        let server = ScriptedServer([
            answer(503, "{}", [("Retry-After", "2")]),
            answer(429, "{}", [("Retry-After", "999999")]),
            answer(503), answer(200, "{}", [("Authorization", "Bearer c")]),
        ])
        #expect(try await server.client().capability(session: "s") == "c")
        #expect(server.paused == [.seconds(2), .seconds(60), .seconds(1)])
    }

    @Test func aServerThatStaysBusyIsAskedABoundedNumberOfTimes() async throws {
        let server = ScriptedServer(Array(repeating: answer(503), count: 10))
        await #expect(throws: ErrorResponse.self) {
            _ = try await server.client().capability(session: "s")
        }
        #expect(server.asked.count == AgentAPIClient.attempts)
    }

    @Test func otherErrorsAreNotRepeated() async throws {
        let server = ScriptedServer([answer(409), answer(200)])
        await #expect(throws: ErrorResponse.self) {
            _ = try await server.client().capability(session: "s")
        }
        #expect(server.asked.count == 1)
    }

    @Test func anErrorShowsTheMessageAndTheHintOfTheServer() {
        let error = ErrorResponse(
            answer(
                409,
                #"{"error":{"message":"Username taken","hint":"Choose\u001b[2J","docs_url":"u"}}"#))
        #expect(
            error.description == """
                the server answered 409: Username taken
                  hint: Choose\\u001b[2J
                  see:  u
                """)
    }

    @Test(arguments: ["", "<html>", "[]", #"{"error":"x"}"#, #"{"error":{"message":7}}"#])
    func anErrorOfAnotherShapeHasNoExplanation(body: String) {
        #expect(
            ErrorResponse(answer(500, body)).description
                == "the server answered 500: no explanation")
    }

    @Test(arguments: ["", "[]", "{}", #"{"inbox":7}"#])
    func aSuccessOfAnotherShapeIsAnError(body: String) async throws {
        let server = ScriptedServer([answer(200, body)])
        await #expect(throws: ErrorResponse.self) {
            _ = try await server.client().mailServer(capability: "c")
        }
    }

    @Test func theDescriptionOfANewAccountHasNoAPIKey() {
        let account = NewAccount(inbox: "a@b", accountID: "i", apiKey: "secret")
        #expect(!"\(account)".contains("secret"))
    }

    @Test func anUnreachableServerIsNamed() async throws {
        let client = AgentAPIClient(
            server: try #require(BaseURL("http://auth.test")),
            send: { _ in throw OutboundError.unreachable })
        await #expect(
            throws: ServerUnreachable(
                url: "http://auth.test/api/v1/challenge", fault: .unreachable)
        ) { _ = try await client.challenge() }
    }
}
