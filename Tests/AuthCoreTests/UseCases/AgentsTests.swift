import AuthCore
import Networking
import Synchronization
import TestSupport
import Testing

struct AgentsTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    @Test func aSignUpOpensASessionThatGetsACapability() async throws {
        let (session, key) = try await world.signUp("myagent")
        #expect(session.account.address.description == "myagent@mail.test")
        let presented = try await world.agents.authenticate(
            session: session.token, at: world.clock.now)
        let capability = try await world.agents.issueCapability(for: presented, by: world.caller)
        let mail = try await world.agents.authenticate(
            capability: capability.token, at: world.clock.now)
        #expect(mail.subject == "myagent@mail.test")
        let again = try await world.logIn(key)
        #expect(again.account == session.account)
    }

    @Test(arguments: MailSubject.allCases)
    func theSubjectOfACapabilityIsWhatTheOperatorConfigured(subject: MailSubject) async throws {
        let world = try AgentWorld(mailSubject: subject)
        let (session, _) = try await world.signUp("myagent")
        let presented = try await world.agents.authenticate(
            session: session.token, at: world.clock.now)
        let capability = try await world.agents.issueCapability(for: presented, by: world.caller)
        let mail = try await world.agents.authenticate(
            capability: capability.token, at: world.clock.now)
        switch subject {
        case .address: #expect(mail.subject == "myagent@mail.test")
        case .localPart: #expect(mail.subject == "myagent")
        case .accountID: #expect(mail.subject == session.account.id.text)
        }
    }

    @Test func onlyADigestOfTheAPIKeyIsStored() async throws {
        let (session, key) = try await world.signUp("myagent")
        let stored = try #require(try await world.stores.accounts.account(id: session.account.id))
        #expect(stored.credential == .apiKey(key.digest))
        #expect(!"\(stored)".contains(key.secret))
    }

    @Test func aTakenNameIsReportedOnlyAfterTheProof() async throws {
        _ = try await world.signUp("myagent")
        let (challenge, proof) = try await world.solvedChallenge()
        let wrong = Proof(nonce: Nonce(-1), digest: proof.digest)
        await expect(.wrongProof) {
            _ = try await open(Username(parsing: "myagent"), challenge, wrong)
        }
        await expect(.usernameTaken) { _ = try await world.signUp("MyAgent") }
    }

    @Test func aReservedNameSpendsNoChallenge() async throws {
        let (challenge, proof) = try await world.solvedChallenge()
        await expect(.usernameNotAllowed) {
            _ = try await open(Username(parsing: "postmaster"), challenge, proof)
        }
        _ = try await open(Username(parsing: "another"), challenge, proof)
    }

    @Test func aChallengeCanBeSpentOnce() async throws {
        let (challenge, proof) = try await world.solvedChallenge()
        _ = try await open(Username(parsing: "first"), challenge, proof)
        await expect(.invalidChallenge) {
            _ = try await open(Username(parsing: "second"), challenge, proof)
        }
    }

    @Test func ofFiftyConcurrentSignUpsWithOneChallengeOneSucceeds() async throws {
        let world = try AgentWorld(wrongProofAllowance: nil)
        let (challenge, proof) = try await world.solvedChallenge()
        let outcomes = await withTaskGroup(of: AgentError?.self) { group in
            for number in 0..<50 {
                group.addTask {
                    do {
                        // A client each: one client has few digests checked at once.
                        let caller = Caller(
                            address: IPAddress(v4: 0x0a00_0000 + UInt32(number)),
                            requestID: "test-\(number)", now: world.clock.now, arrival: .now)
                        _ = try await world.agents.signUp(
                            Username(parsing: "agent\(number)"), challenge: challenge,
                            proof: proof, by: caller)
                        return nil
                    } catch {
                        return error as? AgentError
                    }
                }
            }
            return await group.reduce(into: [AgentError?]()) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == nil } == 1)
        #expect(outcomes.count { $0 == .invalidChallenge } == 49)
    }

    @Test func aWrongDigestSpendsTheChallenge() async throws {
        let (challenge, proof) = try await world.solvedChallenge()
        let wrong = Proof(nonce: Nonce(-1), digest: proof.digest)
        await expect(.wrongProof) {
            _ = try await open(Username(parsing: "myagent"), challenge, wrong)
        }
        await expect(.invalidChallenge) {
            _ = try await open(Username(parsing: "myagent"), challenge, proof)
        }
    }

    @Test func theDigestOfAnotherChallengeIsWrong() async throws {
        let (challenge, _) = try await world.solvedChallenge()
        let (_, proof) = try await world.solvedChallenge()
        await expect(.wrongProof) {
            _ = try await open(Username(parsing: "myagent"), challenge, proof)
        }
    }

    @Test func aDigestWithTooFewZeroBitsSpendsNoChallenge() async throws {
        let (challenge, proof) = try await world.solvedChallenge()
        let easy = Proof(
            nonce: proof.nonce, digest: [0x7f] + (try #require(proof.digest)).dropFirst())
        await expect(.proofTooEasy(required: 2, found: 1)) {
            _ = try await open(Username(parsing: "myagent"), challenge, easy)
        }
        _ = try await open(Username(parsing: "myagent"), challenge, proof)
    }

    @Test func afterTooManyWrongDigestsTheNextIsRejectedBeforeTheSpend() async throws {
        for _ in 0..<11 {
            let (challenge, proof) = try await world.solvedChallenge()
            let wrong = Proof(nonce: Nonce(-1), digest: proof.digest)
            await expect(.wrongProof) {
                _ = try await open(Username(parsing: "myagent"), challenge, wrong)
            }
        }
        let (challenge, proof) = try await world.solvedChallenge()
        let error = await #expect(throws: AgentError.self) {
            try await open(Username(parsing: "myagent"), challenge, proof)
        }
        guard case .common(.rateLimited(let limited)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(limited.retryAfter >= .seconds(1))
        world.clock.advance(by: .seconds(120))
        try await open(Username(parsing: "myagent"), challenge, proof)
    }

    @Test func concurrentWrongDigestsAreCountedBeforeTheyAreChecked() async throws {
        var challenges: [Agents.PresentedChallenge] = []
        for _ in 0..<30 { challenges.append(try await world.solvedChallenge().0) }
        let wrong = Proof(nonce: Nonce("x") ?? Nonce(0), digest: [UInt8](repeating: 0, count: 64))
        let errors = await withTaskGroup(of: AgentError?.self) { group in
            for challenge in challenges {
                group.addTask {
                    do {
                        try await open(Username(parsing: "myagent"), challenge, wrong)
                        return nil
                    } catch {
                        return error as? AgentError
                    }
                }
            }
            return await group.reduce(into: [AgentError?]()) { $0.append($1) }
        }
        #expect(errors.count { $0 == .wrongProof } == 11)
    }

    @Test func aFullPoolSpendsNoChallenge() async throws {
        let held = HeldPool(isFull: true)
        let world = try AgentWorld(stores: world.stores, hashing: held.pool)
        let (challenge, proof) = try await world.solvedChallenge()
        let signUp: @Sendable () async throws -> Void = {
            _ = try await world.agents.signUp(
                Username(parsing: "myagent"), challenge: challenge, proof: proof, by: world.caller)
        }
        await expect(.common(.busy(retryAfter: .seconds(1)))) { try await signUp() }
        #expect(try await spentChallenges() == 0)
        held.empty()
        try await signUp()
        #expect(try await spentChallenges() == 1)
    }

    @Test func aFullPoolDoesNotCountAsAWrongDigest() async throws {
        let held = HeldPool(isFull: true)
        let world = try AgentWorld(hashing: held.pool)
        let (challenge, proof) = try await world.solvedChallenge()
        let signUp: @Sendable () async throws -> Void = {
            _ = try await world.agents.signUp(
                Username(parsing: "myagent"), challenge: challenge, proof: proof, by: world.caller)
        }
        for _ in 0..<20 {
            await expect(.common(.busy(retryAfter: .seconds(1)))) { try await signUp() }
        }
        held.empty()
        try await signUp()
    }

    @Test func aStoreThatIsBusyAfterTheSpendGivesTheChallengeBack() async throws {
        let accounts = FailingAccounts(world.stores.accounts, StoreBusy())
        let world = try AgentWorld(stores: world.stores, accounts: accounts)
        let (challenge, proof) = try await world.solvedChallenge()
        let signUp: @Sendable () async throws -> Void = {
            _ = try await world.agents.signUp(
                Username(parsing: "myagent"), challenge: challenge, proof: proof, by: world.caller)
        }
        await expect(.common(.busy(retryAfter: .seconds(1)))) { try await signUp() }
        accounts.error = nil
        try await signUp()
    }

    @Test func aStoreThatIsBusyAtALoginGivesTheChallengeBack() async throws {
        let (session, key) = try await world.signUp("myagent")
        let accounts = FailingAccounts(world.stores.accounts, StoreBusy())
        let world = try AgentWorld(stores: world.stores, accounts: accounts)
        let (challenge, proof) = try await world.solvedChallenge()
        let logIn: @Sendable () async throws -> Agents.OpenSession = {
            try await world.agents.logIn(key, challenge: challenge, proof: proof, by: world.caller)
        }
        await expect(.common(.busy(retryAfter: .seconds(1)))) { _ = try await logIn() }
        accounts.error = nil
        #expect(try await logIn().account == session.account)
    }

    @Test func aBrokenStoreKeepsTheChallengeSpentAndTheCauseOfTheFailure() async throws {
        let accounts = FailingAccounts(world.stores.accounts, BrokenStore())
        let world = try AgentWorld(stores: world.stores, accounts: accounts)
        let (challenge, proof) = try await world.solvedChallenge()
        let error = await #expect(throws: AgentError.self) {
            try await world.agents.signUp(
                Username(parsing: "myagent"), challenge: challenge, proof: proof, by: world.caller)
        }
        guard case .common(.failed(let cause)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(cause is BrokenStore)
        accounts.error = nil
        await expect(.invalidChallenge) {
            _ = try await world.agents.signUp(
                Username(parsing: "myagent"), challenge: challenge, proof: proof, by: world.caller)
        }
    }

    @Test func aSignUpThatFailsGivesItsCreationTokenBack() async throws {
        let world = try AgentWorld(limits: true)
        _ = try await world.signUp("myagent")
        world.clock.advance(by: .seconds(8))
        await expect(.usernameTaken) { _ = try await world.signUp("myagent") }
        _ = try await world.signUp("another")
        let (challenge, proof) = try await world.solvedChallenge()
        let status = RateLimitStatus(limit: 1, remaining: 0, secondsToReset: 8)
        let limited = RateLimited(retryAfter: .seconds(8), status: status)
        await expect(.common(.rateLimited(limited))) {
            _ = try await world.agents.signUp(
                Username(parsing: "a-third"), challenge: challenge, proof: proof, by: world.caller)
        }
        // What was rejected has spent nothing.
        world.clock.advance(by: .seconds(8))
        _ = try await world.agents.signUp(
            Username(parsing: "a-third"), challenge: challenge, proof: proof, by: world.caller)
    }

    @Test func aLoginTakesNoCreationToken() async throws {
        let world = try AgentWorld(limits: true)
        let (session, key) = try await world.signUp("myagent")
        for _ in 0..<3 {
            let (challenge, proof) = try await world.solvedChallenge()
            let again = try await world.agents.logIn(
                key, challenge: challenge, proof: proof, by: world.caller)
            #expect(again.account == session.account)
        }
    }

    @Test func signUpsLoginsNewKeysAndDeletionsAreRecorded() async throws {
        let (session, key) = try await world.signUp("myagent")
        let account = AuditEvent.Actor.account(session.account.id)
        let again = try await world.logIn(key)
        await expect(.unknownAPIKey) {
            _ = try await world.logIn(try #require(APIKey(presented: "pst_nobody")))
        }
        let presented = try await world.agents.authenticate(
            session: again.token, at: world.clock.now)
        let newKey = try await world.agents.renewAPIKey(of: presented, by: world.caller)
        let renewed = try await world.agents.authenticate(
            session: try await world.logIn(newKey).token, at: world.clock.now)
        try await world.agents.deleteAccount(of: renewed, by: world.caller)
        let address = "myagent@mail.test"
        func event(
            _ kind: AuditEvent.Kind, _ actor: AuditEvent.Actor, _ subject: String
        ) -> AuditEvent {
            AuditEvent(kind, by: world.caller, actor: actor, subject: subject)
        }
        #expect(
            try await world.events == [
                event(.accountCreated, account, address), event(.loginSucceeded, account, address),
                event(.loginFailed, .anonymous, "unknown API key"),
                event(.credentialReset, account, address),
                event(.loginSucceeded, account, address), event(.accountDeleted, account, address),
            ])
    }

    @Test func anUnknownAPIKeyIsReportedAfterTheProof() async throws {
        let unknown = try #require(APIKey(presented: "pst_nobody"))
        await expect(.unknownAPIKey) { _ = try await world.logIn(unknown) }
    }

    @Test func anExpiredOrMissingChallengeIsInvalid() async throws {
        let issued = try await world.agents.issueChallenge(to: world.caller)
        world.clock.advance(by: .seconds(180))
        await expect(.invalidChallenge) {
            _ = try await world.agents.authenticate(challenge: issued.token, at: world.clock.now)
        }
        await expect(.invalidChallenge) {
            _ = try await world.agents.authenticate(challenge: nil, at: world.clock.now)
        }
    }

    private func expect(
        _ error: AgentError, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async {
        await #expect(throws: error, sourceLocation: sourceLocation) { try await body() }
    }

    private func spentChallenges() async throws -> Int {
        try await world.stores.challenges.sweep(before: Instant(milliseconds: .max), limit: 10)
    }

    @discardableResult
    private func open(
        _ username: Username, _ challenge: Agents.PresentedChallenge, _ proof: Proof,
        in other: AgentWorld? = nil
    ) async throws -> (session: Agents.OpenSession, apiKey: APIKey) {
        let world = other ?? self.world
        return try await world.agents.signUp(
            username, challenge: challenge, proof: proof, by: world.caller)
    }
}
