import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

@testable import AuthAPI

struct HashLoginErrorsTests {
    private let errors = HashLoginErrors(
        pages: HashLoginPages(publicURL: AgentWorld.issuer, tokenLifetime: .seconds(3600)))

    @Test func everyErrorOfTheEngineHasTheShapeOfTheAPI() throws {
        let faults: [HTTPError] = [
            .malformed(.badChunk), .notFound, .methodNotAllowed(allowed: [.get]),
            .bodyTooLarge(limit: 10), .timeout, .overloaded(retryAfter: 3), .internalError,
        ]
        let context = ErrorContext(id: RequestID(prefix: 1, number: 1))
        for fault in faults {
            let response = errors.renderer(fault, context)
            #expect(response.status == fault.status)
            #expect(try response.json.names == ["error"])
        }
    }

    @Test func aBrokenStoreIsAnInternalErrorWithoutDetail() async throws {
        var stores = try AgentWorld().stores
        stores.hashLogins = FailingHashLogins(BrokenStore())
        let api = try APIWorld(AgentWorld(stores: stores))
        let json = #"{"email":"user@example.com","password":"test123"}"#
        let response = await api.call(.post, "/login", json: json)
        #expect(response.status == .internalServerError)
        #expect(
            String(decoding: response.body, as: UTF8.self)
                == #"{"error":"This is a fault of the server; try again later."}"#)
        stores.hashLogins = FailingHashLogins(StoreBusy())
        let busy = try APIWorld(AgentWorld(stores: stores))
        let later = await busy.call(.post, "/login", json: json)
        #expect(later.status == .serviceUnavailable)
        #expect(later.header("Retry-After") == "1")
    }

    @Test func aFullPoolIsBusyInEitherFormat() async throws {
        let held = HeldPool(isFull: true)
        let api = try APIWorld(AgentWorld(hashing: held.pool))
        for (accept, type) in [
            ("application/json", "application/json"), ("text/html", "text/html; charset=utf-8"),
        ] {
            let response = await api.router.respond(
                to: Request(
                    method: .post, target: "/login",
                    headers: [
                        ("Content-Type", "application/x-www-form-urlencoded"), ("Accept", accept),
                    ], body: Array("email=a%40b.test&password=x".utf8)))
            #expect(response.status == .serviceUnavailable)
            #expect(response.header("Retry-After") == "1")
            #expect(response.header("Content-Type") == type)
        }
        held.empty()
        let json = #"{"email":"a@b.test","password":"x"}"#
        #expect(await api.call(.post, "/login", json: json).status == .unprocessableContent)
    }

    @Test func everyErrorHasItsDocumentedStatusAndSentence() {
        for (error, status, sentence) in [
            (HashLoginError.blankEmail, 422, "Email can't be blank."),
            (.invalidEmail, 422, "Email is invalid."),
            (.emailTaken, 422, "Email has already been taken."),
            (.blankPassword, 422, "Password can't be blank."),
            (.invalidHashURL, 422, "Password hash URL is invalid."),
            (.hashUnreachable, 422, "Could not fetch password hash URL."),
            (.notAnArgon2Hash, 422, "Password hash URL did not return an Argon2 hash."),
            (.hashMismatch, 422, "Password does not match the remote Argon2 hash."),
            (.loginFailed, 422, "Invalid email or password."),
            (.invalidToken, 401, "Invalid token."),
            (.logoutFailed, 401, "Invalid token or credentials."),
        ] {
            let text = HashLoginErrorText(error)
            #expect(text.status.code == status)
            #expect(text.sentence == sentence)
            #expect(text.isAboutValidity == (sentence == "Invalid token."))
        }
    }
}
