internal import AuthCore
internal import CEmbeddedFiles
internal import Cryptography

/// `/llms.txt`: how an agent signs up and calls every endpoint, with this server's own values in it
/// and the headings that errors link to (``DocsSection``).
struct LLMsText {
    let text: String

    init(agents: Agents, difficulty: Int, bodyLimit: Int, publicURL: String) {
        let settings = agents.settings
        let scrypt = settings.scrypt
        text = Template.fill(
            EmbeddedFile.llms_txt.bytes,
            [
                "public_url": publicURL,
                "domain": agents.policy.agentDomain.text,
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

/// Fills the placeholders of a text, which have the form `{{name}}`.
enum Template {
    /// Traps when a placeholder has no value. All templates are filled at start, so that such a
    /// mistake is found then.
    static func fill(_ template: [UInt8], _ values: [String: String]) -> String {
        var text = ""
        var rest = String(decoding: template, as: UTF8.self)[...]
        while let open = rest.firstRange(of: "{{") {
            text += rest[..<open.lowerBound]
            rest = rest[open.upperBound...]
            guard let close = rest.firstRange(of: "}}"),
                let value = values[String(rest[..<close.lowerBound])]
            else { preconditionFailure("a placeholder has no value") }
            text += value
            rest = rest[close.upperBound...]
        }
        return text + rest
    }
}
