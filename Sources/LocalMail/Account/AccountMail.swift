internal import Synchronization

/// The mail of one account: what the methods of RFC 8620 and RFC 8621 need.
///
/// Each method is atomic. After the account was removed, it has nothing and takes nothing.
public final class AccountMail: Sendable {
    public let account: MailAccount
    public let limits: MailLimits
    let environment: MailEnvironment
    let budget: MemoryBudget
    private let submission: Submission
    private let state: Mutex<AccountState>
    private let watchers = Mutex(Watchers())

    private struct Watchers {
        var isClosed = false
        var next = 0
        var signals: [Int: AsyncStream<Void>.Continuation] = [:]
    }

    /// Sends a message of this account to other accounts.
    typealias Submission =
        @Sendable (SubmissionDraft, MailAccount) async throws(SubmissionSetError) -> MailSubmission

    init(
        account: MailAccount, environment: MailEnvironment, budget: MemoryBudget,
        limits: MailLimits, submission: @escaping Submission
    ) {
        self.account = account
        self.submission = submission
        self.environment = environment
        self.budget = budget
        self.limits = limits
        state = Mutex(
            AccountState(account: account, limits: limits, random: environment.random()))
    }

    public var states: MailStates { read { $0.states } }

    /// The sizes of all messages together.
    public var usedBytes: Int { read { $0.messages.bytes } }

    public var now: MailInstant { environment.now() }

    public var quotaBytes: Int { environment.quota(account.id) }

    public var identity: MailIdentity {
        MailIdentity(id: read { $0.identityID }, email: account.address)
    }

    /// - Throws: ``MailChangesError/cannotCalculateChanges``.
    /// - Parameter limit: at least 1.
    public func changes(
        of type: MailType, since state: String, limit: Int?
    ) throws(MailChangesError) -> MailChanges {
        try read { current throws(MailChangesError) in
            if let (log, kind) = current.log(of: type) {
                return try log.changes(since: state, limit: limit, kind: kind)
            }
            guard state == current.states[type] else { throw .cannotCalculateChanges }
            return MailChanges(
                oldState: state, newState: state, hasMoreChanges: false, created: [],
                updated: [], destroyed: [], onlyCounts: false)
        }
    }

    /// As ``LocalMail/submit(_:from:trace:)``, without fields before the message.
    public func submit(
        _ draft: SubmissionDraft
    ) async throws(SubmissionSetError) -> MailSubmission {
        try await submission(draft, account)
    }

    /// Tells when states change, beginning now.
    public func stateChanges() -> StateChanges {
        // One signal that nobody took yet is enough: the receiver asks for the states as they are.
        let (stream, signal) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = watchers.withLock { watchers -> Int? in
            if watchers.isClosed { return nil }
            watchers.next += 1
            watchers.signals[watchers.next] = signal
            return watchers.next
        }
        if let id {
            signal.onTermination = { [weak self] _ in
                self?.watchers.withLock { _ = $0.signals.removeValue(forKey: id) }
            }
        } else {
            signal.finish()
        }
        return StateChanges(account: self, signals: stream)
    }

    /// How many ``StateChanges`` there are.
    var watcherCount: Int { watchers.withLock { $0.signals.count } }

    /// Calls nothing outside this module with the lock held.
    func read<T: Sendable, E: Error>(
        _ work: (borrowing AccountState) throws(E) -> T
    ) throws(E) -> T {
        try state.withLock { state throws(E) in try work(state) }
    }

    /// Changes the account, and signals that its states changed.
    func write<T: Sendable, E: Error>(
        _ work: (inout AccountState) throws(E) -> T
    ) throws(E) -> T {
        var isChanged = false
        defer { if isChanged { signal() } }
        return try state.withLock { state throws(E) in
            let before = state.states
            defer { isChanged = state.states != before }
            return try work(&state)
        }
    }

    /// Empties the account and ends all ``StateChanges``.
    func close() {
        // What is freed here is freed without the lock.
        let old = state.withLock { state in
            let old = state
            state.close()
            return old
        }
        _ = consume old
        let signals = watchers.withLock { watchers in
            watchers.isClosed = true
            defer { watchers.signals = [:] }
            return Array(watchers.signals.values)
        }
        for signal in signals { signal.finish() }
    }

    private func signal() {
        let signals = watchers.withLock { Array($0.signals.values) }
        for signal in signals { signal.yield() }
    }
}

/// The states of an account, each time they change. What changes while nobody waits comes at once.
public struct StateChanges: Sendable {
    private let account: AccountMail
    private let signals: AsyncStream<Void>
    private var last: MailStates

    init(account: AccountMail, signals: AsyncStream<Void>) {
        self.account = account
        self.signals = signals
        last = account.states
    }

    /// Waits for states other than the last ones, which at first are those of
    /// ``AccountMail/stateChanges()``.
    ///
    /// - Returns: `nil` when the account was removed or the task is cancelled.
    public mutating func next() async -> MailStates? {
        for await _ in signals {
            let states = account.states
            if states == last { continue }
            last = states
            return states
        }
        return nil
    }
}
