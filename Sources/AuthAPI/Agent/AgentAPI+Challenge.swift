internal import AuthCore
internal import Cryptography
internal import HTTPEngine
internal import StrictJSON

extension AgentAPI {
    /// POST /api/v1/challenge
    func issueChallenge(_ request: Request, by caller: Caller) async throws -> Response {
        let issued = try await auth.issueChallenge(to: caller)
        let scrypt = auth.settings.scrypt
        return answer(.ok, token: issued.token, next: challengeSteps) { body in
            body.member("difficulty", issued.challenge.difficulty)
            body.member("expiresIn", issued.lifetime.components.seconds)
            body.member("pow") { pow in
                pow.member("algorithm", "scrypt")
                pow.member("N", scrypt.n)
                pow.member("r", scrypt.r)
                pow.member("p", scrypt.p)
                pow.member("dkLen", scrypt.outputBytes)
                pow.member("salt", issued.challenge.salt)
                pow.member("input", "\(issued.challenge.id):<nonce>")
            }
        }
    }

    private var challengeSteps: [String] {
        [
            "Take the challenge JWT from this answer's Authorization header",
            "Try nonces 0, 1, 2, … until scrypt of pow.input, with <nonce> replaced, salted with "
                + "the UTF-8 text of pow.salt, starts with `difficulty` zero bits",
            "POST \(publicURL)/api/v1/session with that JWT as bearer and "
                + "{\"powHex\":<digest in hex>,\"nonce\":<nonce as text>,\"username\":<name>} to "
                + "sign up, or \"apiKey\" instead of \"username\" to log in",
        ]
    }
}
