/// The names of mailboxes at the mail store, and the mailboxes that have them.
public struct MailNames: Sendable {
    let subject: MailSubject
    /// The domain that agents get their mailboxes on. If names are local parts it is the only
    /// domain, because on several domains two mailboxes could have one name.
    let firstDomain: Domain

    public init(subject: MailSubject, firstDomain: Domain) {
        self.subject = subject
        self.firstDomain = firstDomain
    }

    /// - Returns: `nil` where another mailbox may have the same name.
    public func name(of account: Account) -> String? {
        name(of: account.id, at: account.address)
    }

    /// As ``name(of:)``, for an account that may have been deleted.
    public func name(of id: AccountID, at address: Address) -> String? {
        switch subject {
        case .address: address.description
        case .localPart: address.domain == firstDomain ? address.localPart.text : nil
        case .accountID: id.text
        }
    }

    /// The account that a name from ``name(of:)`` belongs to.
    public func account(
        named name: String, in accounts: any AccountStore
    ) async throws -> Account? {
        if case .accountID = subject {
            guard let id = AccountID(name) else { return nil }
            return try await accounts.account(id: id)
        }
        guard let address = address(of: name) else { return nil }
        return try await accounts.account(address: address)
    }

    /// The address of a mailbox that a mail store names, by its address or by its name there.
    public func address(
        named name: String, in accounts: any AccountStore
    ) async throws -> Address? {
        if let address = address(of: name) { return address }
        guard case .accountID = subject else { return nil }
        return try await account(named: name, in: accounts)?.address
    }

    /// The address that a client means with a user name: an address or, with local parts as names,
    /// a local part.
    func address(of userName: String) -> Address? {
        if let address = Address(parsing: userName) { return address }
        guard case .localPart = subject, let localPart = LocalPart(parsing: userName) else {
            return nil
        }
        return Address(localPart: localPart, domain: firstDomain)
    }
}
