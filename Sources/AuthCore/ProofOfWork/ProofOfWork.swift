public import Cryptography
internal import Networking
public import Scheduling

/// Issues the challenges of one kind, checks them and spends each of them once.
///
/// A challenge is spent when its verification starts, whatever the result. It stays spent across
/// restarts and for all servers that share a database. Only ``refund(_:after:)`` gives it back, for
/// a request that is answered 503 or 429.
public struct ProofOfWork<Challenge: ChallengeToken>: UseCases {
    typealias Failure = ProofOfWorkError

    /// A new challenge.
    public struct Issued: Sendable {
        /// The signed token, which is all that the client must send back.
        public let token: String
        public let challenge: Challenge
        public let lifetime: Duration
        public let expiry: Instant
    }

    /// A challenge that a client sent back: signed by this server and not expired. It may have been
    /// spent before; ``spend(_:with:by:)`` checks that.
    public struct Presented: Sendable {
        let challenge: Challenge
        let expiry: Instant
    }

    public let lifetime: Duration
    let puzzle: @Sendable (Challenge) -> Puzzle
    let tokens: TokenAuthority
    let challenges: any ChallengeLedger
    let pool: WorkerPool?
    /// What the pool computes: proofs of several clients at once.
    private let verifications: BatchWork<Puzzle.Attempt, [UInt8]>
    let wrongProofs: WrongProofLimiter?
    let random: @Sendable (Int) -> [UInt8]
    let events: Counters<ProofEvent>

    /// - Parameters:
    ///   - puzzle: the puzzle of a challenge.
    ///   - pool: computes the digests; when `nil` they are computed by the calling task.
    ///   - kernel: computes scrypt. The pool computes as many digests at once as it has lanes.
    ///   - wrongProofs: limits the wrong proofs of one client; no limit when `nil`.
    ///   - events: counts what happens to challenges, for metrics.
    ///   - random: returns that many random bytes, fit for keys.
    public init(
        lifetime: Duration, puzzle: @escaping @Sendable (Challenge) -> Puzzle,
        tokens: TokenAuthority, challenges: any ChallengeLedger, pool: WorkerPool? = nil,
        kernel: Scrypt.Kernel = .best,
        wrongProofs: WrongProofLimiter? = nil, events: Counters<ProofEvent> = Counters(),
        random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.lifetime = lifetime
        self.puzzle = puzzle
        self.tokens = tokens
        self.challenges = challenges
        self.pool = pool
        verifications = BatchWork(atMost: kernel.lanes) { attempts in
            Puzzle.digests(of: attempts, kernel: kernel)
        }
        self.wrongProofs = wrongProofs
        self.events = events
        self.random = random
    }

    func issue(
        difficulty: Int, salt: String, to caller: Caller
    ) async throws(ProofOfWorkError) -> Issued {
        let challenge = Challenge(
            id: Base64URL.encode(random(16)), difficulty: difficulty, salt: salt)
        let token = try await attempt(
            await tokens.sign(challenge, lifetime: lifetime, for: caller))
        events.add(.issued)
        return Issued(
            token: token, challenge: challenge, lifetime: lifetime,
            expiry: caller.now.advanced(by: lifetime))
    }

    /// - Throws: ``ProofOfWorkError/invalidChallenge``.
    func check(_ token: String?, at now: Instant) async throws(ProofOfWorkError) -> Presented {
        guard let token,
            let (challenge, expiry) = try await attempt(
                await tokens.verify(token, as: Challenge.self, at: now))
        else {
            events.add(.invalid)
            throw .invalidChallenge
        }
        return Presented(challenge: challenge, expiry: expiry)
    }

    /// Spends the challenge and verifies the proof.
    ///
    /// Cheap checks come first: the leading zeros of a claimed digest, the number of the client's
    /// wrong proofs, a free place in the pool. Then the challenge is spent and one digest is
    /// computed. Of any number of concurrent calls with one challenge exactly one can spend it.
    func spend(
        _ presented: Presented, with proof: Proof, by caller: Caller
    ) async throws(ProofOfWorkError) {
        let required = presented.challenge.difficulty
        if let found = proof.digest.map(leadingZeroBits), found < required {
            events.add(.tooEasy)
            throw .tooEasy(required: required, found: found)
        }
        if let wrongProofs {
            try attemptNow(try wrongProofs.acquire(caller.address, at: caller.arrival))
        }
        let isSolved: Bool
        do throws(ProofOfWorkError) {
            let digest = try await digest(
                spending: presented, nonce: proof.nonce, for: caller.address)
            isSolved = proof.isSolved(by: digest, difficulty: required)
        } catch {
            wrongProofs?.refund(caller.address, at: caller.arrival)
            throw error
        }
        events.add(isSolved ? .solved : .wrong)
        guard isSolved else { throw .wrongSolution }
        wrongProofs?.refund(caller.address, at: caller.arrival)
    }

    /// Gives the challenge back when `error` is temporary, because a request that is answered 503
    /// or 429 must not spend anything.
    func refund(_ presented: Presented, after error: some FlowError) async throws(ProofOfWorkError)
    {
        guard error.isTemporary else { return }
        try await attempt(await challenges.restore(presented.challenge.id))
        events.add(.refunded)
    }

    /// - Returns: `nil` when there is no nonce to compute a digest of.
    private func digest(
        spending presented: Presented, nonce: Nonce?, for client: IPAddress
    ) async throws(ProofOfWorkError) -> [UInt8]? {
        let challenge = presented.challenge
        let puzzle = puzzle(challenge)
        guard let pool else {
            try await markSpent(presented)
            guard let nonce else { return nil }
            return try attemptNow(try puzzle.digest(challenge: challenge.id, nonce: nonce))
        }
        // The place is reserved before the spend, so that nothing is spent when the pool is full.
        let place = try attemptNow(try pool.reserve(for: client))
        try await markSpent(presented)
        guard let nonce else { return nil }
        return try await attempt(
            await place.run(
                Puzzle.Attempt(puzzle, challenge: challenge.id, nonce: nonce), in: verifications))
    }

    private func markSpent(_ presented: Presented) async throws(ProofOfWorkError) {
        let isFirst = try await attempt(
            await challenges.spend(presented.challenge.id, expiry: presented.expiry))
        events.add(isFirst ? .spent : .invalid)
        guard isFirst else { throw .invalidChallenge }
    }
}

/// What a client sends as the solution of a challenge.
public struct Proof: Equatable, Sendable {
    /// `nil` for a text that cannot be a nonce, and so solves nothing.
    public let nonce: Nonce?
    /// The digest that the client claims to have found; `nil` where the API takes none.
    public let digest: [UInt8]?

    public init(nonce: Nonce?, digest: [UInt8]? = nil) {
        self.nonce = nonce
        self.digest = digest
    }

    func isSolved(by computed: [UInt8]?, difficulty: Int) -> Bool {
        guard let computed else { return false }
        guard let digest else { return leadingZeroBits(computed) >= difficulty }
        return ConstantTime.equal(computed, digest)
    }
}
