public import AuthCore
public import Cryptography

// The sections about proof of work and about signed tokens.

/// `[pow]`: the proof of work for agents and for accounts.
public struct ProofOfWorkSection: Sendable {
    /// Leading zero bits for a client that has not asked for many challenges. Each bit more doubles
    /// the work.
    public var agentDifficulty = DifficultyGovernor.Settings().base
    /// The highest difficulty, whatever the number of challenges that are asked for.
    public var agentMaxDifficulty = DifficultyGovernor.Settings().maximum
    /// The scrypt salt. It is public and is hashed as text. Published clients use the default.
    public var agentSalt = "0b980734412c292d6549110276b604ab1dea4883bd460d77d1b984adf8bca083"
    /// The lifetime of an agent's challenge.
    public var agentLifetime = Duration.seconds(180)
    /// How scrypt is computed.
    public var scrypt = ScryptChoice.auto
    /// The agents' proofs that one core verifies at once, at most. Each takes 16 MiB.
    public var scryptLanes = 8
    /// Leading zero bits of the SHA-256 proof of work for accounts.
    public var accountsDifficulty = AccountsSettings.defaults.difficulty
    /// The lifetime of a challenge for accounts.
    public var accountsLifetime = AccountsSettings.defaults.challengeLifetime

    static let settings = [
        Setting("pow.agent_difficulty", \.pow.agentDifficulty, .integer(1...24)).reloadable,
        Setting("pow.agent_max_difficulty", \.pow.agentMaxDifficulty, .integer(1...24))
            .reloadable,
        Setting("pow.agent_salt", \.pow.agentSalt, salt),
        Setting("pow.agent_lifetime", \.pow.agentLifetime, challengeLifetime),
        Setting("pow.scrypt", \.pow.scrypt, .oneOf),
        Setting("pow.scrypt_lanes", \.pow.scryptLanes, .integer(1...8)),
        Setting("pow.accounts_difficulty", \.pow.accountsDifficulty, .integer(1...40)).reloadable,
        Setting("pow.accounts_lifetime", \.pow.accountsLifetime, challengeLifetime),
    ]

    private static let challengeLifetime = Syntax.duration(.seconds(10) ... .seconds(86_400))

    /// Hex text of at least 64 bits.
    private static let salt = Syntax<String>.string(
        "16 to 128 hexadecimal digits, an even number of them",
        read: { text in
            guard (16...128).contains(text.utf8.count), text.utf8.count % 2 == 0,
                text.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit })
            else { return nil }
            return text
        }, write: { $0 })
}

/// How scrypt is computed: the fastest way on this processor, or one given implementation.
public enum ScryptChoice: String, CaseIterable, Sendable {
    case auto, avx512, avx2, sse2, libscrypt

    /// `nil` for the fastest one.
    public var implementation: Scrypt.Implementation? { Scrypt.Implementation(rawValue: rawValue) }
}

/// `[tokens]`: the tokens that this server signs.
public struct TokenSection: Sendable {
    /// The `aud` of capability tokens, which mail stores check.
    public var capabilityAudience = "api-service"
    /// The algorithm of capability tokens. Not every mail store verifies every algorithm.
    public var capabilityAlgorithm = SignatureAlgorithm.rs256
    /// Whether capability tokens name their key (`kid`). Cyrus IMAP rejects those that do.
    public var capabilityKeyID = true
    /// What capability tokens contain. Cyrus IMAP 3.6 accepts minimal ones only.
    public var capabilityClaims = CapabilityClaims.full
    /// The lifetime of a capability token. It cannot be revoked, so keep it short.
    public var capabilityLifetime = Duration.seconds(120)
    /// The lifetime of an agent's session.
    public var sessionLifetime = Duration.seconds(3600)
    /// The lifetime of Email JWTs and Pro JWTs.
    public var accountLifetime = AccountsSettings.defaults.tokenLifetime

    static let settings = [
        Setting("tokens.capability_audience", \.tokens.capabilityAudience, .visible(1...200)),
        Setting("tokens.capability_algorithm", \.tokens.capabilityAlgorithm, .oneOf),
        Setting("tokens.capability_key_id", \.tokens.capabilityKeyID, .boolean),
        Setting("tokens.capability_claims", \.tokens.capabilityClaims, .oneOf),
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
