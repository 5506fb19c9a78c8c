import AuthCore
import HTTPEngine
import StrictJSON
import TestSupport
import Testing

/// Requests that many tests of the accounts API send.
extension APIWorld {
    /// A challenge with a nonce that solves it, as the members of `pow`.
    func pow() async throws -> String {
        let body = try await call(.get, "/api/challenge").json
        let id = try #require(body.text("id"))
        let salt = try #require(body.text("salt"))
        let difficulty = try #require(body.number("difficulty"))
        let puzzle = Puzzle.sha256(salt: salt)
        for number in Int64(0)..<1_000_000 {
            let digest = try puzzle.digest(challenge: "", nonce: Nonce(number))
            if leadingZeroBits(digest) >= Int(difficulty) {
                return #"{"id":"\#(id)","nonce":"\#(number)"}"#
            }
        }
        throw AgentWorld.Unsolved()
    }

    /// POST /api/accounts with a proof of work, or with a Pro token.
    func create(
        _ address: String, password: String = "supersecret", bearer: String? = nil
    ) async throws -> Response {
        let work = bearer == nil ? #","pow":\#(try await pow())"# : ""
        return await call(
            .post, "/api/accounts", bearer: bearer,
            json: #"{"address":"\#(address)","password":"\#(password)"\#(work)}"#)
    }

    /// An account with its Email JWT.
    func account(_ address: String) async throws -> (id: String, token: String) {
        let response = try await create(address)
        #expect(response.status == .created)
        let body = try response.json
        return (try #require(body.text("id")), try #require(body.text("token")))
    }

    func login(_ address: String, password: String = "supersecret") async -> Response {
        await call(
            .post, "/api/token", json: #"{"address":"\#(address)","password":"\#(password)"}"#)
    }

    /// A Pro user with their Pro JWT.
    func pro(_ email: String = "owner@example.com") async throws -> String {
        _ = try await world.addUser(email)
        let response = await call(
            .post, "/api/user/login", json: #"{"email":"\#(email)","password":"propassword"}"#)
        #expect(response.status == .ok)
        return try #require(try response.json.text("token"))
    }
}

extension Response {
    /// The code of an error of the accounts API, checked to have the documented shape.
    var code: String? {
        get throws {
            let body = try json
            #expect(body.names == ["error", "message"])
            #expect(body.text("message")?.isEmpty == false)
            if status == .unauthorized { #expect(header("WWW-Authenticate") == "Bearer") }
            return body.text("error")
        }
    }
}

/// Expects an error with this status and this code.
func expectError(
    _ response: Response, _ status: Int, _ code: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    #expect(response.status.code == status, sourceLocation: sourceLocation)
    #expect(try response.code == code, sourceLocation: sourceLocation)
}
