import Networking
import Scheduling
import TestPrimitives
import TestSupport
import Testing

@testable import AuthCore

/// What both kinds of challenge have in common, with the agents' kind.
struct ProofOfWorkTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    private func work(
        lifetime: Duration = .seconds(180), pool: WorkerPool? = .forTests(),
        challenges: (any ChallengeLedger)? = nil, wrongProofs: WrongProofLimiter? = nil
    ) -> ProofOfWork<AgentChallengeToken> {
        ProofOfWork(
            lifetime: lifetime,
            puzzle: { .scrypt(parameters: AgentWorld.scrypt, salt: $0.salt) },
            tokens: world.tokens, challenges: challenges ?? world.stores.challenges, pool: pool,
            wrongProofs: wrongProofs, random: world.random.make)
    }

    private func issue(
        _ work: ProofOfWork<AgentChallengeToken>
    ) async throws -> (ProofOfWork<AgentChallengeToken>.Presented, Proof) {
        let issued = try await work.issue(
            difficulty: 2, salt: AgentWorld.salt, to: world.caller)
        return (
            try await work.check(issued.token, at: world.clock.now),
            try AgentWorld.solve(issued.challenge)
        )
    }

    /// How many challenges are marked as spent. Removes the marks.
    private func spent() async throws -> Int {
        try await world.stores.challenges.sweep(before: Instant(milliseconds: .max), limit: 100)
    }

    @Test func anIssuedChallengeHasItsDifficultyItsSaltAndItsLifetime() async throws {
        let issued = try await work(lifetime: .seconds(90)).issue(
            difficulty: 7, salt: "ab", to: world.caller)
        #expect(issued.challenge.difficulty == 7 && issued.challenge.salt == "ab")
        #expect(issued.challenge.id.utf8.count == 22 && !issued.challenge.id.contains(":"))
        #expect(issued.lifetime == .seconds(90))
        #expect(issued.expiry == world.clock.now.advanced(by: .seconds(90)))
        // Nothing is stored until it is spent.
        #expect(try await spent() == 0)
    }

    @Test func aChallengeIsValidUntilItExpires() async throws {
        let work = work(lifetime: .seconds(90))
        let token = try await work.issue(difficulty: 2, salt: "", to: world.caller).token
        world.clock.advance(by: .seconds(89))
        _ = try await work.check(token, at: world.clock.now)
        world.clock.advance(by: .seconds(1))
        for token in [token, nil, "garbage"] {
            await #expect(throws: ProofOfWorkError.invalidChallenge) {
                try await work.check(token, at: world.clock.now)
            }
        }
    }

    @Test(arguments: [true, false])
    func aSolvedChallengeIsSpentOnce(hasPool: Bool) async throws {
        let work = work(pool: hasPool ? .forTests() : nil)
        let (challenge, proof) = try await issue(work)
        try await work.spend(challenge, with: proof, by: world.caller)
        await #expect(throws: ProofOfWorkError.invalidChallenge) {
            try await work.spend(challenge, with: proof, by: world.caller)
        }
        #expect(try await spent() == 1)
    }

    @Test func withoutAClaimedDigestTheComputedOneMustHaveEnoughZeros() async throws {
        let work = work(pool: nil)
        let (challenge, proof) = try await issue(work)
        try await work.spend(challenge, with: Proof(nonce: proof.nonce), by: world.caller)
        for zeros in 0..<2 {
            let (next, _) = try await issue(work)
            let wrong = try #require(
                (0..<1000).lazy.map { Nonce($0) }.first { nonce in
                    let puzzle = Puzzle.scrypt(parameters: AgentWorld.scrypt, salt: AgentWorld.salt)
                    let digest = try? puzzle.digest(challenge: next.challenge.id, nonce: nonce)
                    return digest.map(leadingZeroBits) == zeros
                })
            await #expect(throws: ProofOfWorkError.wrongSolution, "\(zeros) zero bits of 2") {
                try await work.spend(next, with: Proof(nonce: wrong), by: world.caller)
            }
        }
    }

    @Test(arguments: [true, false])
    func aTextThatCannotBeANonceSpendsTheChallengeToo(hasPool: Bool) async throws {
        let work = work(pool: hasPool ? .forTests() : nil)
        let (challenge, _) = try await issue(work)
        await #expect(throws: ProofOfWorkError.wrongSolution) {
            try await work.spend(challenge, with: Proof(nonce: nil), by: world.caller)
        }
        #expect(try await spent() == 1)
    }

    @Test func onlyATemporaryErrorGivesAChallengeBack() async throws {
        let work = work()
        let (challenge, proof) = try await issue(work)
        for (error, isRefunded) in [
            (AgentError.usernameTaken, false), (.common(.failed(BrokenStore())), false),
            (.common(.rateLimited(RateLimited(retryAfter: .seconds(1)))), true),
            (.common(.busy(retryAfter: .seconds(1))), true),
        ] {
            _ = try? await work.spend(challenge, with: proof, by: world.caller)
            try await work.refund(challenge, after: error)
            #expect(try await spent() == (isRefunded ? 0 : 1))
            // Sweeping has removed the mark, so the next round spends it again.
        }
    }

    /// Wrong digests are counted; correct ones, and ones that were not checked, are not.
    @Test func onlyDigestsThatWereFoundWrongAreCounted() async throws {
        let limiter = WrongProofLimiter(allowance: 0)
        let held = HeldPool()
        let work = work(pool: held.pool, wrongProofs: limiter)
        for _ in 0..<3 {
            let (challenge, proof) = try await issue(work)
            held.fill()
            await #expect(throws: ProofOfWorkError.common(.busy(retryAfter: .seconds(1)))) {
                try await work.spend(challenge, with: proof, by: world.caller)
            }
            held.empty()
            try await work.spend(challenge, with: proof, by: world.caller)
            // Spent already, so it is not checked.
            await #expect(throws: ProofOfWorkError.invalidChallenge) {
                try await work.spend(challenge, with: proof, by: world.caller)
            }
        }
        let (challenge, proof) = try await issue(work)
        let wrong = Proof(nonce: Nonce(-1), digest: proof.digest)
        await #expect(throws: ProofOfWorkError.wrongSolution) {
            try await work.spend(challenge, with: wrong, by: world.caller)
        }
        let (next, solution) = try await issue(work)
        let error = await #expect(throws: ProofOfWorkError.self) {
            try await work.spend(next, with: solution, by: world.caller)
        }
        guard case .common(.rateLimited)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        // Another client is not limited.
        let other = Caller(
            address: IPAddress(v4: 0xc633_6401), requestID: "test-2", now: world.clock.now,
            arrival: .now)
        try await work.spend(next, with: solution, by: other)
    }

    @Test func aClientThatHoldsItsShareOfThePoolSpendsNothingAndOthersSpend() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 8)
        let work = work(pool: pool)
        let (challenge, proof) = try await issue(work)
        let (next, solution) = try await issue(work)
        func fill() async throws {
            let first = try pool.reserve(for: AgentWorld.client)
            let second = try pool.reserve(for: AgentWorld.client)
            await #expect(throws: ProofOfWorkError.common(.busy(retryAfter: .seconds(1)))) {
                try await work.spend(challenge, with: proof, by: world.caller)
            }
            let other = Caller(
                address: .loopback, requestID: "test-2", now: world.clock.now, arrival: .now)
            try await work.spend(next, with: solution, by: other)
            withExtendedLifetime(first) {}
            withExtendedLifetime(second) {}
        }
        try await fill()
        try await work.spend(challenge, with: proof, by: world.caller)
    }

    /// Those that wait are verified together; a wrong proof among them is the fault of its client.
    @Test func proofsThatWaitTogetherEachHaveTheirOwnResult() async throws {
        let pool = WorkerPool(name: "test", lanes: 1, depth: 64, shares: .unlimited)
        let work = work(pool: pool)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run(for: nil) { gate.hold() } }
            await gate.await()
            for number in 0..<20 {
                let (challenge, proof) = try await issue(work)
                group.addTask {
                    guard number % 4 == 3 else {
                        return try await work.spend(challenge, with: proof, by: world.caller)
                    }
                    let wrong = Proof(nonce: Nonce(-1), digest: proof.digest)
                    await #expect(throws: ProofOfWorkError.wrongSolution) {
                        try await work.spend(challenge, with: wrong, by: world.caller)
                    }
                }
            }
            while pool.statistics.waiting < 20 { await Task.yield() }
            gate.release()
            try await group.waitForAll()
        }
        #expect(try await spent() == 20)
    }

    @Test func aBrokenStoreIsAFailureWithItsCause() async throws {
        let work = work(challenges: FailingChallenges(BrokenStore()))
        let (challenge, proof) = try await issue(work)
        let error = await #expect(throws: ProofOfWorkError.self) {
            try await work.spend(challenge, with: proof, by: world.caller)
        }
        guard case .common(.failed(let cause))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is BrokenStore)
    }
}
