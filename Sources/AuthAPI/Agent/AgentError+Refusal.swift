internal import AuthCore
internal import HTTPEngine

extension AgentError {
    init(_ refusal: Refusal, publicURL: String) {
        switch refusal {
        case .malformedRequest(let cause):
            self.init(
                status: .badRequest, message: cause,
                hint: "Send the JSON body that the reference describes, and retry.",
                anchor: .authFlowReference)
        case .unsupportedMediaType(let expected):
            self.init(
                status: .unsupportedMediaType, message: "Unsupported Content-Type",
                hint: "Send the body as \(expected) with `Content-Type: \(expected)`.",
                anchor: .requestFormat)
        case .invalidChallenge:
            self.init(
                status: .unauthorized, message: "Invalid or expired challenge",
                hint: "Request a fresh challenge from POST /api/v1/challenge, solve PoW again, "
                    + "and retry.",
                anchor: .authFlowReference)
        case .invalidSession:
            self.init(
                status: .unauthorized, message: "Invalid or expired session",
                hint: "Log in again: request a challenge from POST /api/v1/challenge, solve it, "
                    + "and POST /api/v1/session with your apiKey.",
                anchor: .sessionsAndCapabilities)
        case .invalidCapability:
            self.init(
                status: .unauthorized, message: "Invalid or expired capability",
                hint: "Get a new one from POST /api/v1/capability with your session JWT as "
                    + "bearer, and retry within two minutes.",
                anchor: .sessionsAndCapabilities)
        case .unknownAPIKey:
            self.init(
                status: .unauthorized, message: "Unknown API key",
                hint: "Check the key for missing characters. A key that was replaced or whose "
                    + "account was deleted or disabled stays unknown.",
                anchor: .apiKeys)
        case .proofRejected(let fault): self.init(fault)
        case .invalidUsername(let rule):
            self.init(
                status: .badRequest, message: "Invalid username: \(rule)",
                hint: "Choose 5 to 21 characters of a-z, 0-9, `.`, `_`, `-`, and retry with the "
                    + "same challenge and proof: they are not spent.",
                anchor: .usernames)
        case .usernameNotAllowed: self = .usernameNotAllowed
        case .addressTaken: self = .usernameTaken
        case .tooManyRequests(let wait, _):
            self.init(
                status: .tooManyRequests, message: "Too many requests",
                hint: "Wait for the seconds in Retry-After, then retry.",
                anchor: .limitsAndRetries, retryAfter: wait.retryAfterSeconds)
        case .busy(let wait):
            self.init(
                status: .serviceUnavailable, message: "The server is busy",
                hint: "Nothing was done. Wait for the seconds in Retry-After, then send the same "
                    + "request again.",
                anchor: .limitsAndRetries, retryAfter: wait.retryAfterSeconds)
        case .mailStoreMissing: self = .mailStoreMissing
        case .missingToken, .invalidToken, .forbidden, .notFound, .invalidCredentials,
            .invalidAddress, .invalidDomain, .passwordTooShort, .proofRequired,
            .accountLimitReached, .registrationClosed, .invalidEmail, .emailTaken,
            .tokenLimitReached, .domainLimitReached, .domainAlreadyExists, .domainInUse,
            .blankEmail, .blankPassword, .invalidHashURL, .hashUnreachable, .notAnArgon2Hash,
            .hashMismatch, .loginFailed, .invalidLoginToken, .logoutFailed:
            // No use case of this surface refuses so.
            self = .unexpected
        }
    }

    private static let usernameNotAllowed = AgentError(
        status: .badRequest, message: "Username not allowed",
        hint: "The name is reserved for the operator. Choose another and retry with the same "
            + "challenge and proof: they are not spent.",
        anchor: .usernames)

    private static let usernameTaken = AgentError(
        status: .conflict, message: "Username taken",
        hint: "Choose another username, request a fresh challenge from POST /api/v1/challenge, "
            + "solve it, and retry.",
        anchor: .usernames)

    private static let mailStoreMissing = AgentError(
        status: .serviceUnavailable, message: "No mail store is configured",
        hint: "This server hands out credentials only. Its operator connects a JMAP mail "
            + "store with the setting `mail.jmap_url`.",
        anchor: .jmap, retryAfter: 3600)

    private init(_ fault: ProofFault) {
        switch fault {
        case .tooEasy(let required, let found):
            self.init(
                status: .forbidden,
                message: "Proof of work too easy: \(found) leading zero bits, \(required) needed",
                hint: "Go on trying nonces until the digest has at least \(required) leading zero "
                    + "bits; the challenge is not spent.",
                anchor: .proofOfWork)
        case .wrongDigest:
            self.init(
                status: .forbidden, message: "Proof of work does not match",
                hint: "powHex must be scrypt of `<jti>:<nonce>` salted with the UTF-8 text of the "
                    + "salt, not its decoded bytes. The challenge is spent: request a fresh one "
                    + "from POST /api/v1/challenge.",
                anchor: .proofOfWork)
        }
    }
}
