internal import AuthCore

/// The texts of `_next`: what an agent usually does after a successful request.
///
/// Made once: no request changes them.
struct AgentSteps {
    let afterChallenge: [String]
    let afterSignup: [String]
    let afterLogin: [String]
    let afterCapability: [String]
    let afterRenewal: [String]

    init(publicURL: String, settings: Agents.Settings) {
        afterChallenge = [
            "Take the challenge JWT from this response's Authorization header",
            "Try nonces 0, 1, 2, … until scrypt of pow.input, with <nonce> replaced, salted with "
                + "the UTF-8 text of pow.salt, starts with `difficulty` zero bits",
            "POST \(publicURL)/api/v1/session with that JWT as bearer and "
                + "{\"powHex\":<digest in hex>,\"nonce\":<nonce as text>,\"username\":<name>} to "
                + "sign up, or \"apiKey\" instead of \"username\" to log in",
        ]
        afterLogin = [
            "Take the session JWT from this response's Authorization header; it is valid for "
                + settings.sessionLifetime.inWords,
            "POST \(publicURL)/api/v1/capability with it as bearer to get a capability JWT",
        ]
        afterSignup =
            ["Store apiKey now: it is shown only in this response, and you need it for every login"]
            + afterLogin
        afterCapability = [
            "Take the capability JWT from this response's Authorization header; it is valid for "
                + settings.capabilityLifetime.inWords,
            "GET \(publicURL)/.well-known/jmap with it as bearer to find apiUrl and your "
                + "accountId",
            "Use it as bearer for JMAP requests to apiUrl, and get a new one before it expires",
        ]
        afterRenewal = [
            "Store apiKey now: it is shown only in this response, and the old key and every "
                + "session are invalid",
            "POST \(publicURL)/api/v1/challenge, solve it, and log in with the new key",
        ]
    }
}
