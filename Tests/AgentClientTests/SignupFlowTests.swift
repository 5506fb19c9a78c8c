import Cryptography
import Fetching
import Scheduling
import Testing

@testable import AgentClient

@Suite struct SignupFlowTests {
    private let signedUp = answer(
        201, #"{"apiKey":"k","inbox":"a@mail.test","accountId":"id"}"#,
        [("Authorization", "Bearer session")])

    private func challenge(lifetime: Int = 180) -> FetchedResponse {
        let claims = #"{"jti":"abc","difficulty":1,"salt":"00","iat":0,"exp":\#(lifetime)}"#
        return answer(
            200, #"{"pow":{"N":2,"r":1,"p":1}}"#, [("Authorization", "Bearer \(token(claims))")])
    }

    private func flow(_ server: ScriptedServer, _ committing: AtomicFlag = AtomicFlag()) throws
        -> SignupFlow
    {
        SignupFlow(
            client: try server.client(), display: ProgressDisplay(isTerminal: false), threads: 1,
            kernel: .best, committing: committing)
    }

    @Test func anExpiredChallengeIsReplaced() async throws {
        let server = ScriptedServer([challenge(), answer(401), challenge(), signedUp])
        let (session, account) = try await flow(server).signUp("agent")
        #expect(session == "session")
        #expect(account.inbox == "a@mail.test")
    }

    @Test func challengesAreReplacedABoundedNumberOfTimes() async throws {
        let rounds = Array(repeating: [challenge(), answer(401)], count: 5).flatMap { $0 }
        let server = ScriptedServer(rounds + [challenge(), signedUp])
        await #expect(throws: ErrorResponse.self) { try await flow(server).signUp("agent") }
        #expect(server.asked.count == 10)
    }

    @Test func aTakenNameIsNotTriedAgain() async throws {
        let server = ScriptedServer([challenge(), answer(409), challenge(), signedUp])
        await #expect(throws: ErrorResponse.self) { try await flow(server).signUp("agent") }
        #expect(server.asked.count == 2)
    }

    @Test func theFlowCommitsWhenItSendsTheSolution() async throws {
        let committing = AtomicFlag()
        let server = ScriptedServer([answer(500)])
        await #expect(throws: ErrorResponse.self) {
            try await flow(server, committing).signUp("agent")
        }
        #expect(!committing.isSet)
        let other = ScriptedServer([challenge(), signedUp])
        _ = try await flow(other, committing).signUp("agent")
        #expect(committing.isSet)
    }
}
