/// The names by which the mail store knows mailboxes, and the mailboxes that have them.
struct MailNames: Sendable {
    let subject: MailSubject
    /// The domain that agents get their mailboxes on. With local parts as names it is the only
    /// one: on several domains, two mailboxes could have one name.
    let firstDomain: Domain

    /// - Returns: `nil` where another mailbox may have the same name.
    func name(of account: Account) -> String? {
        switch subject {
        case .address: account.address.description
        case .localPart:
            account.address.domain == firstDomain ? account.address.localPart.text : nil
        case .accountID: account.id.text
        }
    }

    /// The account that a name from ``name(of:)`` belongs to.
    func account(
        named name: String, in accounts: any AccountStore
    ) async throws -> Account? {
        if case .accountID = subject {
            guard let id = AccountID(name) else { return nil }
            return try await accounts.account(id: id)
        }
        guard let address = address(of: name) else { return nil }
        return try await accounts.account(address: address)
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
