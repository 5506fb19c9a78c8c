public import AuthCore
public import LocalMail

/// The mail of accounts: where it is, and by which name.
///
/// `mail.store` decides. Without a store that this server can ask, ``store`` is `nil`, and the
/// endpoints that need one answer 503.
public struct AccountsMail: Sendable {
    /// The mail in this process; `nil` unless `mail.store` is `local`.
    public let local: LocalMail?
    private let names: MailNames
    private let known: KnownMailAccounts

    /// - Parameter known: those of `local`.
    public init(
        local: LocalMail?, names: MailNames, known: KnownMailAccounts = KnownMailAccounts()
    ) {
        self.local = local
        self.names = names
        self.known = known
    }

    var store: (any MailStore)? { local }

    /// The account as the mail store knows it: by the name that capabilities carry as their
    /// subject. An account that gets no capabilities is known by its address.
    public func account(of account: Account) -> MailAccount {
        let name = names.name(of: account) ?? account.address.description
        // Another process of the operator may have deleted the account that had the name.
        if let local, known.note(account, named: name) { local.remove(accountID: name) }
        return MailAccount(id: name, address: account.address.description)
    }

    /// Removes the mail of an account that was deleted.
    public func remove(_ address: Address) {
        guard let name = known.remove(address) else { return }
        local?.remove(accountID: name)
    }
}
