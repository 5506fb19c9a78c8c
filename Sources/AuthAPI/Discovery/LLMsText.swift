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
        var text: [UInt8] = []
        var rest = template[...]
        while let (before, opened) = halves(of: rest, at: UInt8(ascii: "{")) {
            text += before
            guard let (name, after) = halves(of: opened, at: UInt8(ascii: "}")),
                let value = values[String(decoding: name, as: UTF8.self)]
            else { preconditionFailure("a placeholder has no value") }
            text += value.utf8
            rest = after
        }
        return String(decoding: text + rest, as: UTF8.self)
    }

    /// What is before and after the first two of these braces. Bytes, because the standard library
    /// searches a string for a string so slowly that a start of the program would take 5 ms longer.
    private static func halves(
        of text: ArraySlice<UInt8>, at brace: UInt8
    ) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        var rest = text
        while let index = rest.firstIndex(of: brace) {
            rest = rest[(index + 1)...]
            if rest.first == brace { return (text[..<index], rest.dropFirst()) }
        }
        return nil
    }
}
