/// A challenge that a client presented with its solution: ours, whole and in time. Whether it has
/// been spent, and whether the solution holds, is not known until it is redeemed.
struct PresentedWork {
    let challenge: AccountsChallengeToken
    /// `nil` for a text that can be none, and so solves nothing.
    let nonce: Nonce?
    let expiry: Instant
}

extension AccountsAuth {
    /// - Throws: ``Refusal/proofRequired``, ``Refusal/invalidChallenge``.
    func admit(
        _ proof: NewAccount.ClaimedProof?, by caller: Caller
    ) async throws -> PresentedWork {
        guard let proof else { throw Refusal.proofRequired }
        guard
            let (challenge, expiry) = try await tokens.verify(
                proof.challenge, as: AccountsChallengeToken.self, at: caller.now)
        else { throw Refusal.invalidChallenge }
        return PresentedWork(
            challenge: challenge, nonce: Nonce(proof.nonce, atMost: Nonce.accountOctets),
            expiry: expiry)
    }

    /// Spends the challenge, checks the proof and does what it paid for. Spent is spent, whatever
    /// the proof is worth; only a server that is too busy gives it back.
    func redeeming<T: Sendable>(
        _ work: PresentedWork, _ body: () async throws -> T
    ) async throws -> T {
        let challenge = work.challenge
        guard try await stores.ledger.spend(challenge.id, expiry: work.expiry) else {
            throw Refusal.invalidChallenge
        }
        return try await stores.ledger.honouring(challenge.id) {
            let digest = try work.nonce.map { nonce in
                try Puzzle.sha256(salt: challenge.salt)
                    .digest(challenge: challenge.id, nonce: nonce)
            }
            guard let digest, leadingZeroBits(digest) >= challenge.difficulty else {
                throw Refusal.proofRejected(.wrongDigest)
            }
            return try await body()
        }
    }
}
