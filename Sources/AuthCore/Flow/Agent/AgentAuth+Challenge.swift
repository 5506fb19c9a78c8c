internal import Cryptography

/// A challenge as it is handed out.
public struct IssuedChallenge: Sendable {
    /// The signed token, which is all that the client must send back.
    public let token: String
    public let challenge: ChallengeToken
    public let lifetime: Duration
}

/// A challenge that a client presented and that is ours, whole and in time. Whether it has been
/// spent is not known until it is.
public struct PresentedChallenge: Sendable {
    let challenge: ChallengeToken
    let expiry: Instant
}

extension AgentAuth {
    /// Makes a challenge whose difficulty follows how much the client and everybody are asking.
    public func issueChallenge(
        to caller: Caller
    ) async throws -> IssuedChallenge {
        let challenge = ChallengeToken(
            id: makeID(), difficulty: governor.difficulty(for: caller.client, at: caller.now),
            salt: settings.salt)
        let token = try await tokens.sign(
            challenge, lifetime: settings.challengeLifetime, at: caller.now)
        return IssuedChallenge(
            token: token, challenge: challenge, lifetime: settings.challengeLifetime)
    }

    /// - Throws: ``Refusal/invalidChallenge``.
    public func admit(challenge token: String?, at now: Instant) async throws -> PresentedChallenge
    {
        guard let token,
            let (challenge, expiry) = try await tokens.verify(
                token, as: ChallengeToken.self, at: now)
        else { throw Refusal.invalidChallenge }
        return PresentedChallenge(challenge: challenge, expiry: expiry)
    }

    /// Checks the proof; the cheap checks come before the spend, and the spend, which nothing
    /// undoes, before the one scrypt. Of any number of concurrent calls with one challenge one
    /// gets past the spend. A place in the hashing pool is held before it, so a full pool spends
    /// nothing.
    func redeem(
        _ presented: PresentedChallenge, proof: Proof, by caller: Caller
    ) async throws {
        let challenge = presented.challenge
        let found = leadingZeroBits(proof.digest)
        guard found >= challenge.difficulty else {
            throw Refusal.proofRejected(
                .tooEasy(required: challenge.difficulty, found: found))
        }
        try falseProofs.admit(caller.client, at: caller.now)
        let isRight: Bool
        do {
            let digest = try await digest(spending: presented, nonce: proof.nonce)
            isRight = ConstantTime.equal(digest, proof.digest)
        } catch {
            falseProofs.forgive(caller.client, at: caller.now)
            throw error
        }
        guard isRight else { throw Refusal.proofRejected(.wrongDigest) }
        falseProofs.forgive(caller.client, at: caller.now)
    }

    private func digest(
        spending presented: PresentedChallenge, nonce: Nonce
    ) async throws -> [UInt8] {
        let challenge = presented.challenge
        let puzzle = Puzzle.scrypt(parameters: settings.scrypt, salt: challenge.salt)
        return try await hashing.withPlace { place in
            guard try await ledger.spend(challenge.id, expiry: presented.expiry) else {
                throw Refusal.invalidChallenge
            }
            return try await place.run {
                try puzzle.digest(challenge: challenge.id, nonce: nonce)
            }
        }
    }
}
