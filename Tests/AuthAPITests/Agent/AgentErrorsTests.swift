import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

/// The errors of the agent API, and the documented order of checks.
struct AgentErrorsTests {
    private let api: APIWorld

    init() throws {
        api = try APIWorld()
    }

    @Test func aForgedOrMissingChallengeHasTheDocumentedError() async throws {
        let session = try await api.signUp("myagent").session
        for bearer in [nil, "garbage", "a.b.c", session] {
            let response = await api.call(
                .post, "/api/v1/session", bearer: bearer, json: #"{"powHex":1}"#)
            #expect(response.status == .unauthorized)
            #expect(response.header("WWW-Authenticate") == "Bearer")
            let error = try response.agentError
            #expect(error.message == "Invalid or expired challenge")
            #expect(
                error.hint == "Request a fresh challenge from POST /api/v1/challenge, "
                    + "solve PoW again, and retry.")
            #expect(error.anchor == "auth-flow-reference")
        }
    }

    @Test func anEmptyDoubledOrOtherAuthorizationCountsAsNone() async throws {
        let session = try await api.signUp("myagent").session
        for value in ["Bearer", "Bearer ", "Basic \(session)", "Bearer\t\(session)", session] {
            let response = await api.call(
                .post, "/api/v1/capability", headers: [("Authorization", value)])
            #expect(response.status == .unauthorized, "\(value.prefix(12))")
        }
        let doubled = await api.call(
            .post, "/api/v1/capability", bearer: session,
            headers: [("authorization", "Bearer \(session)")])
        #expect(doubled.status == .unauthorized)
        let lower = await api.call(
            .post, "/api/v1/capability", headers: [("AUTHORIZATION", "bEARER   \(session)")])
        #expect(lower.status == .ok)
    }

    @Test func aTokenOfAnotherKindIsNotASession() async throws {
        let (challenge, _) = try await api.solvedChallenge()
        for (method, path) in [
            (HTTPEngine.Method.post, "/api/v1/capability"), (.post, "/api/v1/api-key"),
            (.delete, "/api/v1/account"),
        ] {
            for bearer in [nil, challenge, "x.y.z"] {
                let response = await api.call(method, path, bearer: bearer)
                #expect(response.status == .unauthorized)
                #expect(try response.agentError.message == "Invalid or expired session")
            }
        }
    }

    @Test(arguments: [
        "", "{", "[]", "null", "42", #""text""#, #"{"a":NaN}"#, #"{"powHex":"a","powHex":"b"}"#,
        #"{"powHex":"a","\u0070owHex":"b"}"#, "\u{FEFF}{}", "{}x", #"{"a":"\ud800"}"#,
    ])
    func aBodyThatIsNotOneJSONObjectIsMalformed(json: String) async throws {
        let (challenge, _) = try await api.solvedChallenge()
        let response = await api.call(.post, "/api/v1/session", bearer: challenge, json: json)
        #expect(response.status == .badRequest)
        #expect(try !response.agentError.message.isEmpty)
    }

    @Test func aBodyThatIsNotUTF8IsMalformed() async throws {
        let (challenge, _) = try await api.solvedChallenge()
        let response = await api.router.respond(
            to: Request(
                method: .post, target: "/api/v1/session",
                headers: [("Authorization", "Bearer \(challenge)")],
                body: Array(#"{"username":""#.utf8) + [0xff, 0xfe] + Array(#""}"#.utf8)))
        #expect(response.status == .badRequest)
    }

    @Test func nestingDeeperThan32IsMalformed() async throws {
        let (challenge, proof) = try await api.solvedChallenge()
        for (depth, status) in [(33, Status.badRequest), (32, .created)] {
            // The object itself is the first level.
            let nested =
                String(repeating: "[", count: depth - 1)
                + String(repeating: "]", count: depth - 1)
            let response = await api.call(
                .post, "/api/v1/session", bearer: challenge,
                json: proof.json(#""username":"myagent","deep":\#(nested)"#))
            #expect(response.status == status)
        }
    }

    @Test func anErrorNamesTheMemberThatIsWrong() async throws {
        let (challenge, proof) = try await api.solvedChallenge()
        let digest = String(repeating: "0", count: 128)
        for (json, name) in [
            (#"{"nonce":"1","username":"myagent"}"#, "powHex"),
            (#"{"powHex":null,"nonce":"1","username":"myagent"}"#, "powHex"),
            (#"{"powHex":1,"nonce":"1","username":"myagent"}"#, "powHex"),
            (#"{"powHex":"\#(digest)00","nonce":"1","username":"myagent"}"#, "powHex"),
            (#"{"powHex":"\#(digest.dropLast())g","nonce":"1","username":"myagent"}"#, "powHex"),
            (#"{"powHex":"\#(digest)","username":"myagent"}"#, "nonce"),
            (#"{"powHex":"\#(digest)","nonce":"","username":"myagent"}"#, "nonce"),
            (#"{"powHex":"\#(digest)","nonce":1.5,"username":"myagent"}"#, "nonce"),
            (#"{"powHex":"\#(digest)","nonce":[1],"username":"myagent"}"#, "nonce"),
            (
                #"{"powHex":"\#(digest)","nonce":18446744073709551616,"username":"myagent"}"#,
                "nonce"
            ),
            (#"{"powHex":"\#(digest)","nonce":"1","username":7}"#, "username"),
            (#"{"powHex":"\#(digest)","nonce":"1"}"#, "apiKey"),
            (#"{"powHex":"\#(digest)","nonce":"1","username":"myagent","apiKey":"k"}"#, "apiKey"),
        ] {
            let response = await api.call(.post, "/api/v1/session", bearer: challenge, json: json)
            #expect(response.status == .badRequest, "\(json)")
            #expect(try response.agentError.message.contains("`\(name)`"), "\(json)")
        }
        let unspent = await api.call(
            .post, "/api/v1/session", bearer: challenge, json: proof.json(#""username":"myagent""#))
        #expect(unspent.status == .created)
    }

    @Test func invalidUsernamesAreRejectedWithTheRule() async throws {
        let (challenge, proof) = try await api.solvedChallenge()
        for (name, message) in [
            ("postmaster", "Username not allowed"), ("four", "Invalid username"),
            ("näm-ex", "Invalid username"), ("a\\u0000bcdef", "Invalid username"),
        ] {
            let response = await api.call(
                .post, "/api/v1/session", bearer: challenge,
                json: proof.json(#""username":"\#(name)""#))
            #expect(response.status == .badRequest)
            #expect(try response.agentError.message.hasPrefix(message))
        }
    }

    @Test func eachErrorHasItsDocumentedStatus() async throws {
        let (_, account) = try await api.signUp("myagent")
        let taken = try await open(#""username":"myagent""#)
        #expect(taken.status == .conflict)
        let unknown = try await open(#""apiKey":"pst_unknown""#)
        #expect(unknown.status == .unauthorized)
        #expect(try unknown.agentError.message == "Unknown API key")
        #expect(unknown.header("WWW-Authenticate") == "Bearer")
        let (challenge, proof) = try await api.solvedChallenge()
        let wrong = Proof(nonce: Nonce(-1), digest: proof.digest)
        let key = try #require(account.text("apiKey"))
        let forbidden = await api.call(
            .post, "/api/v1/session", bearer: challenge, json: wrong.json(#""apiKey":"\#(key)""#))
        #expect(forbidden.status == .forbidden)
        #expect(try forbidden.agentError.anchor == "proof-of-work")
        let easy = Proof(
            nonce: proof.nonce, digest: [0xff] + (try #require(proof.digest)).dropFirst())
        let (next, _) = try await api.solvedChallenge()
        let tooEasy = await api.call(
            .post, "/api/v1/session", bearer: next, json: easy.json(#""apiKey":"\#(key)""#))
        #expect(tooEasy.status == .forbidden)
        #expect(try tooEasy.agentError.message.contains("2 needed"))
    }

    @Test func requestsAreCheckedInTheDocumentedOrder() async throws {
        let unknown = await api.call(.put, "/api/v1/nothing")
        #expect(unknown.status == .notFound)
        #expect(try unknown.agentError.message == "Not found")
        let method = await api.call(.get, "/api/v1/session", json: "{")
        #expect(method.status == .methodNotAllowed)
        #expect(method.header("Allow")?.contains("POST") == true)
        #expect(try method.agentError.hint.contains("POST"))
        // The media type is checked before the token, the token before the body.
        let type = await api.call(
            .post, "/api/v1/session", headers: [("Content-Type", "text/plain")])
        #expect(type.status == .unsupportedMediaType)
        #expect(try type.agentError.anchor == "request-format")
        let token = await api.call(.post, "/api/v1/session", json: "{")
        #expect(token.status == .unauthorized)
    }

    @Test(arguments: ["application/json", "APPLICATION/JSON; charset=utf-8", " application/json "])
    func aMediaTypeMayHaveParameters(type: String) async throws {
        let response = await api.call(
            .post, "/api/v1/session", headers: [("Content-Type", type)])
        #expect(response.status == .unauthorized)
    }

    @Test func aFullPoolIsBusy() async throws {
        let held = HeldPool(isFull: true)
        let busy = try APIWorld(AgentWorld(hashing: held.pool))
        let (challenge, proof) = try await busy.solvedChallenge()
        let response = await busy.call(
            .post, "/api/v1/session", bearer: challenge, json: proof.json(#""username":"myagent""#))
        #expect(response.status == .serviceUnavailable)
        #expect(response.header("Retry-After") == "1")
        #expect(try response.agentError.anchor == "limits-and-retries")
        held.empty()
        let again = await busy.call(
            .post, "/api/v1/session", bearer: challenge, json: proof.json(#""username":"myagent""#))
        #expect(again.status == .created)
    }

    @Test func tooManyWrongDigestsAreRateLimited() async throws {
        var last = Status.ok
        var retryAfter: String?
        for _ in 0..<12 {
            let (challenge, proof) = try await api.solvedChallenge()
            let wrong = Proof(nonce: Nonce(-1), digest: proof.digest)
            let response = await api.call(
                .post, "/api/v1/session", bearer: challenge,
                json: wrong.json(#""username":"myagent""#))
            last = response.status
            retryAfter = response.header("Retry-After")
        }
        #expect(last == .tooManyRequests)
        #expect(try #require(retryAfter.flatMap { Int($0) }) >= 1)
    }

    @Test func aBrokenStoreIsAnInternalErrorWithoutDetail() async throws {
        let world = try AgentWorld(challenges: FailingChallenges(BrokenStore()))
        let broken = try APIWorld(world)
        let (challenge, proof) = try await broken.solvedChallenge()
        let response = await broken.call(
            .post, "/api/v1/session", bearer: challenge, json: proof.json(#""username":"myagent""#))
        #expect(response.status == .internalServerError)
        #expect(!String(decoding: response.body, as: UTF8.self).contains("disk"))
        #expect(try response.agentError.message == "Internal error")
    }

    @Test func everyErrorOfTheEngineHasTheShapeOfTheAPI() throws {
        let errors: [HTTPError] = [
            .malformed(.badChunk), .notFound, .methodNotAllowed(allowed: [.get]),
            .bodyTooLarge(limit: 10), .timeout, .overloaded(retryAfter: 3),
            .internalError,
        ]
        let context = ErrorContext(id: RequestID(prefix: 1, number: 1))
        for error in errors {
            let response = api.agent.errors.renderer(error, context)
            #expect(response.status == error.status)
            #expect(try !response.agentError.hint.isEmpty)
        }
    }

    private func open(_ member: String) async throws -> Response {
        let (challenge, proof) = try await api.solvedChallenge()
        return await api.call(
            .post, "/api/v1/session", bearer: challenge, json: proof.json(member))
    }
}
