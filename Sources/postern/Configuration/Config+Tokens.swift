extension Config {
    /// The agents' and the accounts' proof of work.
    struct ProofOfWork: Sendable {
        /// Leading zero bits asked of a quiet client; each more doubles the work.
        var agentDifficulty = 6
        /// Leading zero bits never exceeded, however many challenges are asked for.
        var agentMaxDifficulty = 10
        /// The scrypt salt, public, hashed as the text it is. Published clients carry the default.
        var agentSalt = "0b980734412c292d6549110276b604ab1dea4883bd460d77d1b984adf8bca083"
        /// How long a challenge may take to solve.
        var agentLifetime = Duration.seconds(180)
        /// Leading zero bits of the accounts' SHA-256 proof of work.
        var accountsDifficulty = 20
        /// How long an accounts' challenge may take to solve.
        var accountsLifetime = Duration.seconds(300)

        static let settings = [
            Setting("pow.agent_difficulty", \.pow.agentDifficulty, .integer(1...24)),
            Setting("pow.agent_max_difficulty", \.pow.agentMaxDifficulty, .integer(1...24)),
            Setting("pow.agent_salt", \.pow.agentSalt, .salt),
            Setting(
                "pow.agent_lifetime", \.pow.agentLifetime,
                .duration(.seconds(10) ... .seconds(86_400))),
            Setting("pow.accounts_difficulty", \.pow.accountsDifficulty, .integer(1...40)),
            Setting(
                "pow.accounts_lifetime", \.pow.accountsLifetime,
                .duration(.seconds(10) ... .seconds(86_400))),
        ]
    }

    /// What is signed here.
    struct Tokens: Sendable {
        /// `aud` of capability tokens, which mail stores check.
        var capabilityAudience = "api-service"
        /// Whether capability tokens name their key (`kid`). Cyrus IMAP refuses those that do.
        var capabilityKeyID = true
        /// How long a capability token is good for. It cannot be revoked: keep it short.
        var capabilityLifetime = Duration.seconds(120)
        /// How long an agent's session is good for.
        var sessionLifetime = Duration.seconds(3600)
        /// How long Email JWTs and Pro JWTs are good for.
        var accountLifetime = Duration.seconds(604_800)

        static let settings = [
            Setting("tokens.capability_audience", \.tokens.capabilityAudience, .visible(1...200)),
            Setting("tokens.capability_key_id", \.tokens.capabilityKeyID, .boolean),
            Setting(
                "tokens.capability_lifetime", \.tokens.capabilityLifetime,
                .duration(.seconds(10) ... .seconds(3600))),
            Setting(
                "tokens.session_lifetime", \.tokens.sessionLifetime,
                .duration(.seconds(60) ... .seconds(604_800))),
            Setting(
                "tokens.account_lifetime", \.tokens.accountLifetime,
                .duration(.seconds(60) ... .seconds(31_536_000))),
        ]
    }
}

extension Syntax<String> {
    /// Hex text, at least 64 bits of it.
    fileprivate static let salt = Syntax.string(
        "16 to 128 hexadecimal digits, an even number of them",
        read: { text in
            guard (16...128).contains(text.utf8.count), text.utf8.count % 2 == 0,
                text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
            else { return nil }
            return text
        }, write: { $0 })
}
