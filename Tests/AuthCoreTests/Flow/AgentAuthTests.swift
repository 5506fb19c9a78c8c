import AuthCore
import Synchronization
import TestSupport
import Testing

struct AgentAuthTests {
    private let world: AgentWorld

    init() throws {
        world = try AgentWorld()
    }

    @Test func aSignupOpensASessionThatGetsACapability() async throws {
        let (session, key) = try await signup("myagent")
        #expect(session.account.address.description == "myagent@mail.test")
        let presented = try await world.auth.admit(session: session.token, at: world.clock.now)
        let capability = try await world.auth.issueCapability(for: presented, at: world.clock.now)
        let mail = try await world.auth.mailAccount(
            capability: capability.token, at: world.clock.now)
        #expect(mail.subject == "myagent@mail.test")
        let again = try await login(key)
        #expect(again.account == session.account)
    }

    @Test(arguments: MailSubject.allCases)
    func theMailStoreKnowsTheMailboxByWhatTheOperatorChose(subject: MailSubject) async throws {
        let world = try AgentWorld(mailSubject: subject)
        let (session, _) = try await signup("myagent", in: world)
        let presented = try await world.auth.admit(session: session.token, at: world.clock.now)
        let capability = try await world.auth.issueCapability(for: presented, at: world.clock.now)
        let mail = try await world.auth.mailAccount(
            capability: capability.token, at: world.clock.now)
        switch subject {
        case .address: #expect(mail.subject == "myagent@mail.test")
        case .localPart: #expect(mail.subject == "myagent")
        case .accountID: #expect(mail.subject == session.account.id.text)
        }
    }

    @Test func onlyADigestOfTheKeyIsStored() async throws {
        let (session, key) = try await signup("myagent")
        let stored = try #require(try await world.stores.accounts.account(id: session.account.id))
        #expect(stored.credential == .apiKey(key.digest))
        #expect(!"\(stored)".contains(key.secret))
    }

    @Test func aTakenNameIsRefusedOnlyOnceTheWorkIsProved() async throws {
        _ = try await signup("myagent")
        await expect(.addressTaken) { _ = try await signup("MyAgent") }
    }

    @Test func aReservedNameSpendsNothing() async throws {
        let (challenge, proof) = try await solvedChallenge()
        await expect(.usernameNotAllowed) {
            _ = try await open(Username(parsing: "postmaster"), challenge, proof)
        }
        _ = try await open(Username(parsing: "another"), challenge, proof)
    }

    @Test func aChallengeIsSpentOnce() async throws {
        let (challenge, proof) = try await solvedChallenge()
        _ = try await open(Username(parsing: "first"), challenge, proof)
        await expect(.invalidChallenge) {
            _ = try await open(Username(parsing: "second"), challenge, proof)
        }
    }

    @Test func ofFiftyAtOnceOneGetsPastTheSpend() async throws {
        // Proofs in flight count as false until they are checked.
        let world = try AgentWorld(falseProofAllowance: .max)
        let (challenge, proof) = try await solvedChallenge(in: world)
        let outcomes = await withTaskGroup(of: Refusal?.self) { group in
            for number in 0..<50 {
                group.addTask {
                    do {
                        _ = try await world.auth.signup(
                            Username(parsing: "agent\(number)"), challenge: challenge,
                            proof: proof, by: world.caller)
                        return nil
                    } catch {
                        return error as? Refusal
                    }
                }
            }
            return await group.reduce(into: [Refusal?]()) { $0.append($1) }
        }
        #expect(outcomes.count { $0 == nil } == 1)
        #expect(outcomes.count { $0 == .invalidChallenge } == 49)
    }

    @Test func aWrongDigestSpendsTheChallenge() async throws {
        let (challenge, proof) = try await solvedChallenge()
        let wrong = Proof(nonce: Nonce(-1), digest: proof.digest)
        await expect(.proofRejected(.wrongDigest)) {
            _ = try await open(Username(parsing: "myagent"), challenge, wrong)
        }
        await expect(.invalidChallenge) {
            _ = try await open(Username(parsing: "myagent"), challenge, proof)
        }
    }

    @Test func theRightDigestOfAnotherChallengeIsWrong() async throws {
        let (challenge, _) = try await solvedChallenge()
        let (_, proof) = try await solvedChallenge()
        await expect(.proofRejected(.wrongDigest)) {
            _ = try await open(Username(parsing: "myagent"), challenge, proof)
        }
    }

    @Test func tooFewZeroBitsSpendNothing() async throws {
        let (challenge, proof) = try await solvedChallenge()
        let easy = Proof(nonce: proof.nonce, digest: [0x7f] + proof.digest.dropFirst())
        await expect(.proofRejected(.tooEasy(required: 2, found: 1))) {
            _ = try await open(Username(parsing: "myagent"), challenge, easy)
        }
        _ = try await open(Username(parsing: "myagent"), challenge, proof)
    }

    @Test func tooManyFalseDigestsAreRefusedBeforeTheSpend() async throws {
        for _ in 0..<11 {
            let (challenge, proof) = try await solvedChallenge()
            let wrong = Proof(nonce: Nonce(-1), digest: proof.digest)
            await expect(.proofRejected(.wrongDigest)) {
                _ = try await open(Username(parsing: "myagent"), challenge, wrong)
            }
        }
        let (challenge, proof) = try await solvedChallenge()
        do {
            _ = try await open(Username(parsing: "myagent"), challenge, proof)
            Issue.record("admitted")
        } catch Refusal.tooManyRequests {
            world.clock.advance(by: .seconds(120))
            _ = try await open(Username(parsing: "myagent"), challenge, proof)
        }
    }

    @Test func falseDigestsSentAtOnceAreCountedBeforeTheyAreLookedAt() async throws {
        var challenges: [PresentedChallenge] = []
        for _ in 0..<30 { challenges.append(try await solvedChallenge().0) }
        let zeros = Proof(nonce: Nonce("x") ?? Nonce(0), digest: [UInt8](repeating: 0, count: 64))
        let refusals = await withTaskGroup(of: Refusal?.self) { group in
            for challenge in challenges {
                group.addTask {
                    do {
                        try await open(Username(parsing: "myagent"), challenge, zeros)
                        return nil
                    } catch {
                        return error as? Refusal
                    }
                }
            }
            return await group.reduce(into: [Refusal?]()) { $0.append($1) }
        }
        #expect(refusals.count { $0 == .proofRejected(.wrongDigest) } == 11)
    }

    @Test func aFullPoolSpendsNothing() async throws {
        let world = try AgentWorld(stores: world.stores, hashing: FullWorkers())
        let (challenge, proof) = try await solvedChallenge(in: world)
        await expect(.busy(retryAfter: .seconds(1))) {
            _ = try await world.auth.signup(
                Username(parsing: "myagent"), challenge: challenge, proof: proof,
                by: world.caller)
        }
        let spent = try await world.stores.challenges.sweep(
            before: Instant(milliseconds: .max), limit: 10)
        #expect(spent == 0)
    }

    @Test func aStoreThatIsBusyAfterTheSpendGivesTheChallengeBack() async throws {
        let busy = BusyAccounts(world.stores.accounts)
        let world = try AgentWorld(stores: world.stores, accounts: busy)
        let (challenge, proof) = try await solvedChallenge(in: world)
        let signup: @Sendable () async throws -> Void = {
            _ = try await world.auth.signup(
                Username(parsing: "myagent"), challenge: challenge, proof: proof,
                by: world.caller)
        }
        await #expect(throws: StoreBusy.self) { try await signup() }
        busy.isBusy = false
        try await signup()
    }

    @Test func anUnknownKeyIsRefusedAfterTheWork() async throws {
        let stranger = try #require(APIKey(presented: "pst_nobody"))
        await expect(.unknownAPIKey) { _ = try await login(stranger) }
    }

    @Test func aDisabledAccountIsClosedOnEveryDoor() async throws {
        let (session, key) = try await signup("myagent")
        let presented = try await world.auth.admit(session: session.token, at: world.clock.now)
        let capability = try await world.auth.issueCapability(for: presented, at: world.clock.now)
        #expect(
            try await world.stores.accountDirectory.setState(
                of: session.account.id, to: .disabled,
                recording: AuditEvent(
                    .accountDisabled, time: world.clock.now, actor: "operator", subject: "")))
        await expect(.invalidSession) {
            _ = try await world.auth.admit(session: session.token, at: world.clock.now)
        }
        await expect(.invalidCapability) {
            _ = try await world.auth.mailAccount(
                capability: capability.token, at: world.clock.now)
        }
        await expect(.unknownAPIKey) { _ = try await login(key) }
    }

    @Test func aNewKeyEndsTheOldOneAndEverySession() async throws {
        let (session, old) = try await signup("myagent")
        let presented = try await world.auth.admit(session: session.token, at: world.clock.now)
        let new = try await world.auth.renewAPIKey(of: presented, by: world.caller)
        await expect(.invalidSession) {
            _ = try await world.auth.admit(session: session.token, at: world.clock.now)
        }
        await expect(.invalidSession) {
            _ = try await world.auth.renewAPIKey(of: presented, by: world.caller)
        }
        await expect(.unknownAPIKey) { _ = try await login(old) }
        #expect(try await login(new).account.id == session.account.id)
    }

    @Test func aDeletedAccountIsGoneAndItsAddressIsNotGivenOutAgain() async throws {
        let (session, key) = try await signup("myagent")
        let presented = try await world.auth.admit(session: session.token, at: world.clock.now)
        try await world.auth.deleteAccount(of: presented, by: world.caller)
        await expect(.invalidSession) {
            _ = try await world.auth.admit(session: session.token, at: world.clock.now)
        }
        await expect(.unknownAPIKey) { _ = try await login(key) }
        await expect(.addressTaken) { _ = try await signup("myagent") }
        #expect(
            try await world.stores.accountDirectory.free(
                session.account.address,
                recording: AuditEvent(
                    .addressFreed, time: world.clock.now, actor: "operator", subject: "")))
        _ = try await signup("myagent")
    }

    @Test func anExpiredChallengeIsNotAdmitted() async throws {
        let issued = try await world.auth.issueChallenge(to: world.caller)
        world.clock.advance(by: .seconds(180))
        await expect(.invalidChallenge) {
            _ = try await world.auth.admit(challenge: issued.token, at: world.clock.now)
        }
        await expect(.invalidChallenge) {
            _ = try await world.auth.admit(challenge: nil, at: world.clock.now)
        }
    }

    private func expect(_ refusal: Refusal, _ body: () async throws -> Void) async {
        await #expect(throws: refusal) { try await body() }
    }

    private func solvedChallenge(
        in other: AgentWorld? = nil
    ) async throws -> (PresentedChallenge, Proof) {
        let world = other ?? self.world
        let issued = try await world.auth.issueChallenge(to: world.caller)
        let proof = try AgentWorld.solve(issued.challenge)
        return (try await world.auth.admit(challenge: issued.token, at: world.clock.now), proof)
    }

    @discardableResult
    private func open(
        _ username: Username, _ challenge: PresentedChallenge, _ proof: Proof
    ) async throws -> (session: OpenSession, apiKey: APIKey) {
        try await world.auth.signup(
            username, challenge: challenge, proof: proof, by: world.caller)
    }

    private func signup(
        _ name: String, in other: AgentWorld? = nil
    ) async throws -> (session: OpenSession, apiKey: APIKey) {
        let world = other ?? self.world
        let (challenge, proof) = try await solvedChallenge(in: world)
        return try await world.auth.signup(
            Username(parsing: name), challenge: challenge, proof: proof,
            by: world.caller)
    }

    private func login(_ key: APIKey) async throws -> OpenSession {
        let (challenge, proof) = try await solvedChallenge()
        return try await world.auth.login(
            key, challenge: challenge, proof: proof, by: world.caller)
    }
}

/// An account store that is busy until told otherwise.
private final class BusyAccounts: AccountStore {
    private let inner: any AccountStore
    private let busy = Mutex(true)

    init(_ inner: any AccountStore) {
        self.inner = inner
    }

    var isBusy: Bool {
        get { busy.withLock { $0 } }
        set { busy.withLock { $0 = newValue } }
    }

    private func answer() throws {
        if isBusy { throw StoreBusy() }
    }

    func insert(
        _ account: Account, on domain: DomainID?, limit: Int?, recording event: AuditEvent
    ) async throws -> AccountInsertion {
        try answer()
        return try await inner.insert(account, on: domain, limit: limit, recording: event)
    }

    func account(id: AccountID) async throws -> Account? {
        try answer()
        return try await inner.account(id: id)
    }

    func account(address: Address) async throws -> Account? {
        try answer()
        return try await inner.account(address: address)
    }

    func account(apiKey: APIKeyDigest) async throws -> Account? {
        try answer()
        return try await inner.account(apiKey: apiKey)
    }

    func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential,
        recording event: AuditEvent
    ) async throws -> Bool {
        try answer()
        return try await inner.replaceCredential(
            of: id, at: version, with: credential, recording: event)
    }

    func rehash(_ id: AccountID, from old: PasswordHash, to new: PasswordHash) async throws -> Bool
    {
        try answer()
        return try await inner.rehash(id, from: old, to: new)
    }

    func delete(
        _ id: AccountID, at version: Int64?, recording event: AuditEvent
    ) async throws -> Bool {
        try answer()
        return try await inner.delete(id, at: version, recording: event)
    }
}
