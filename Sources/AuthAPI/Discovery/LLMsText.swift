internal import AuthCore
internal import Cryptography

/// `/llms.txt`: how an agent signs up and calls everything, with this server's own values in it,
/// and the headings that errors link to.
struct LLMsText {
    /// The headings that a `docs_url` may point to, as GitHub-style slugs. A test holds each to a
    /// heading that exists.
    enum Anchor: String, CaseIterable {
        case authFlowReference = "auth-flow-reference"
        case proofOfWork = "proof-of-work"
        case usernames = "usernames"
        case sessionsAndCapabilities = "sessions-and-capabilities"
        case apiKeys = "api-keys"
        case jmap = "jmap"
        case requestFormat = "request-format"
        case limitsAndRetries = "limits-and-retries"
        case endpoints = "endpoints"
    }

    let text: String

    init(auth: AgentAuth, difficulty: Int, bodyLimit: Int, publicURL: String) {
        let settings = auth.settings
        let scrypt = settings.scrypt
        text = Template.fill(
            PackageResources.llms_txt,
            [
                "public_url": publicURL,
                "domain": auth.policy.agentDomain.text,
                "salt": settings.salt,
                "n": String(scrypt.n), "r": String(scrypt.r), "p": String(scrypt.p),
                "dk_len": String(scrypt.outputBytes),
                "dk_bits": String(scrypt.outputBytes * 8),
                "pow_hex_digits": String(scrypt.outputBytes * 2),
                "difficulty": String(difficulty),
                "expected_tries": String(1 << min(difficulty, 62)),
                "challenge_seconds": String(settings.challengeLifetime.components.seconds),
                "session_seconds": String(settings.sessionLifetime.components.seconds),
                "capability_seconds": String(settings.capabilityLifetime.components.seconds),
                "body_limit": String(bodyLimit),
            ])
    }
}
