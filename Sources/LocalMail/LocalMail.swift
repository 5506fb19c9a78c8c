// LocalMail: the mail of accounts, in the memory of this process.
//
// Owns: folders, messages, threads and submissions with the states and changes of RFC 8620 and
// RFC 8621, delivery to accounts, the list of what was delivered or captured, and the SMTP session
// (RFC 5321) as a state machine. Never knows a token, HTTP, JSON or a socket, never reads the
// format of a message (a ``MessageReader`` does), and never sends anything to another machine.

internal import Synchronization

/// The mail of all accounts. What it holds ends with it.
///
/// Each account has a lock of its own. An account's mail begins with the first use of the account.
public final class LocalMail: Sendable {
    public let limits: MailLimits
    private let environment: MailEnvironment
    private let budget = MemoryBudget()
    private let accounts = Mutex<[String: AccountMail]>([:])
    let deliveries = DeliveryLog()
    private let currentFault = Mutex<DeliveryFault?>(nil)

    public init(_ environment: MailEnvironment, limits: MailLimits = MailLimits()) {
        self.environment = environment
        self.limits = limits
    }

    /// The failure that a test asked for.
    public var fault: DeliveryFault? {
        get { currentFault.withLock { $0 } }
        set { currentFault.withLock { $0 = newValue } }
    }

    public var reader: any MessageReader { environment.reader }

    /// The bytes that all mail, captured messages and uploads take together.
    public var totalBytes: Int { budget.usedBytes }

    public func mail(of account: MailAccount) -> AccountMail {
        if let known = accounts.withLock({ $0[account.id] }) { return known }
        let new = AccountMail(
            account: account, environment: environment, budget: budget, limits: limits
        ) { [weak self] draft, account throws(SubmissionSetError) in
            // No mail outlives all others.
            guard let self else { throw .forbiddenToSend }
            return try await self.submit(draft, from: account)
        }
        return accounts.withLock { accounts in
            let mail = accounts[account.id] ?? new
            accounts[account.id] = mail
            return mail
        }
    }

    /// Removes all mail of an account, and ends those who wait for it. What was delivered to it
    /// stays in ``delivered(after:)``.
    public func remove(accountID: String) {
        accounts.withLock { $0.removeValue(forKey: accountID) }?.close()
    }

    /// Removes all mail of all accounts, what was delivered or captured, and the fault.
    public func reset() {
        fault = nil
        let closed = accounts.withLock { accounts in
            defer { accounts = [:] }
            return Array(accounts.values)
        }
        for account in closed { account.close() }
        clearDelivered()
    }

    // MARK: Delivery

    /// Everything that was delivered or captured, in the order of arrival.
    public func delivered(after number: Int = 0) -> [DeliveredMessage] {
        deliveries.messages(after: number)
    }

    /// Empties ``delivered(after:)``. Accounts keep their mail.
    public func clearDelivered() { deliveries.removeAll() }

    /// To whom the address belongs, or why nothing can be delivered to it now: the answer to RCPT.
    public func owner(ofRecipient address: String) async -> Result<AddressOwner, DeliveryFailure> {
        switch fault {
        case .recipient?: return .failure(.unknownRecipient)
        case .temporary?: return .failure(.temporary)
        case .message?, nil: break
        }
        let owner = await environment.owner(address)
        switch owner {
        case .unknown: return .failure(.unknownRecipient)
        case .unavailable: return .failure(.temporary)
        case .elsewhere: return .success(owner)
        case .account(let account):
            let mail = mail(of: account)
            return mail.usedBytes >= mail.quotaBytes ? .failure(.mailboxFull) : .success(owner)
        }
    }

    /// Whether the address is the account's own, or a sub-address of it: the answer to MAIL.
    ///
    /// - Throws: ``DeliveryFailure/temporary`` while accounts cannot be looked up.
    public func isAddress(
        _ address: String, of account: MailAccount
    ) async throws(DeliveryFailure) -> Bool {
        switch await environment.owner(address) {
        case .account(let owner): return owner.id == account.id
        case .unknown, .elsewhere: return false
        case .unavailable: throw .temporary
        }
    }

    /// Puts a message into the inbox of each recipient on this server, and keeps it for those on
    /// others. Nothing leaves the machine.
    ///
    /// - Parameter trace: the Return-Path and Received fields to put before it (RFC 5321 §4.4).
    /// - Returns: a result for each different recipient, in their order.
    public func deliver(
        _ message: [UInt8], trace: [UInt8] = [], from mailFrom: String, to recipients: [String]
    ) async -> [DeliveryResult] {
        await deliver(from: mailFrom, to: recipients) { () throws(DeliveryFailure) in
            try content(of: message, trace: trace)
        }
    }

    /// Reads a message and keeps it for ``deliver(_:from:to:)``. This takes long for a large
    /// message, and waits for nothing.
    ///
    /// - Parameter trace: as for ``deliver(_:trace:from:to:)``.
    public func content(
        of message: [UInt8], trace: [UInt8] = []
    ) throws(DeliveryFailure) -> MailContent {
        guard message.count <= limits.messageBytes else { throw .messageTooLarge }
        guard
            let stored = StoredBytes([trace, message], budget: budget, limit: limits.totalBytes)
        else { throw .systemFull }
        return try content(of: stored)
    }

    /// As ``deliver(_:trace:from:to:)``, for a message that was read before.
    public func deliver(
        _ content: MailContent, from mailFrom: String, to recipients: [String]
    ) async -> [DeliveryResult] {
        await deliver(from: mailFrom, to: recipients) { () throws(DeliveryFailure) in content }
    }

    private func content(of stored: StoredBytes) throws(DeliveryFailure) -> MailContent {
        let summary = environment.reader.summary(of: stored.bytes)
        guard let content = MailContent(stored, summary: summary, limit: limits.totalMessages)
        else { throw .systemFull }
        return content
    }

    /// Sends a message of the account (RFC 8621 §7.5), without its Bcc field.
    ///
    /// - Parameter trace: makes what ``deliver(_:trace:from:to:)`` takes.
    public func submit(
        _ draft: SubmissionDraft, from account: MailAccount,
        trace: (MailEnvelope) -> [UInt8] = { _ in [] }
    ) async throws(SubmissionSetError) -> MailSubmission {
        let mail = mail(of: account)
        let email = try mail.email(toSubmit: draft)
        let envelope = try await checkedEnvelope(draft.envelope, email: email, from: account)
        if fault == .message { throw .forbiddenToSend }
        let parts = [trace(envelope), BlindCopy.removed(from: email.content.bytes)]
        var failure: SubmissionSetError?
        let results = await deliver(from: envelope.mailFrom, to: envelope.recipients) {
            () throws(DeliveryFailure) in
            guard let stored = StoredBytes(parts, budget: budget, limit: limits.totalBytes) else {
                failure = .overQuota
                throw .systemFull
            }
            return try content(of: stored)
        }
        if let failure { throw failure }
        return mail.record(email, envelope, results: results)
    }

    private func checkedEnvelope(
        _ given: MailEnvelope?, email: MailEmail, from account: MailAccount
    ) async throws(SubmissionSetError) -> MailEnvelope {
        var envelope = given ?? MailEnvelope(email.content.summary)
        let isOwn: Bool
        do {
            isOwn = try await isAddress(envelope.mailFrom, of: account)
        } catch {
            throw .serverUnavailable
        }
        if !isOwn {
            guard given == nil else { throw .forbiddenMailFrom }
            envelope.mailFrom = account.address
        }
        if envelope.recipients.isEmpty { throw .noRecipients }
        if envelope.recipients.count > limits.recipients {
            throw .tooManyRecipients(limits.recipients)
        }
        var invalid: [String] = []
        var isUnavailable = false
        for recipient in envelope.recipients {
            let owner = await owner(ofRecipient: recipient)
            if owner == .failure(.unknownRecipient) || !SMTPPath.isAddress(recipient) {
                invalid.append(recipient)
            }
            // There is no queue from which the message could be sent later.
            isUnavailable = isUnavailable || owner == .failure(.temporary)
        }
        if !invalid.isEmpty { throw .invalidRecipients(invalid) }
        if isUnavailable { throw .serverUnavailable }
        return envelope
    }

    private func deliver(
        from mailFrom: String, to recipients: [String],
        content: () throws(DeliveryFailure) -> MailContent
    ) async -> [DeliveryResult] {
        var known: Set<String> = []
        let recipients = recipients.filter { known.insert(Keyword.lowered($0)).inserted }
        func all(_ failure: DeliveryFailure) -> [DeliveryResult] {
            recipients.map { DeliveryResult(recipient: $0, outcome: .failed(failure)) }
        }
        if fault == .message { return all(.messageRejected) }
        var owners: [Result<AddressOwner, DeliveryFailure>] = []
        for recipient in recipients { owners.append(await owner(ofRecipient: recipient)) }
        let message: MailContent
        do throws(DeliveryFailure) {
            message = try content()
        } catch {
            return all(error)
        }
        return await distribute(message, from: mailFrom, to: zip(recipients, owners))
    }

    private func distribute(
        _ message: MailContent, from mailFrom: String,
        to recipients: some Sequence<(String, Result<AddressOwner, DeliveryFailure>)>
    ) async -> [DeliveryResult] {
        let now = environment.now()
        var results: [DeliveryResult] = []
        var arrived: [(MailAccount, MailEmail)] = []
        for (recipient, owner) in recipients {
            let outcome: DeliveryOutcome
            do throws(DeliveryFailure) {
                switch try owner.get() {
                case .account(let account):
                    let email = try mail(of: account).deliver(message, at: now)
                    arrived.append((account, email))
                    outcome = .delivered(account, message: email.id)
                default: outcome = .captured
                }
            } catch {
                outcome = .failed(error)
            }
            results.append(DeliveryResult(recipient: recipient, outcome: outcome))
        }
        let accepted = results.filter(\.outcome.isAccepted)
        if !accepted.isEmpty {
            deliveries.append(message, from: mailFrom, results: accepted, at: now)
        }
        for (account, email) in arrived { await environment.delivered(account, email) }
        return results
    }
}
