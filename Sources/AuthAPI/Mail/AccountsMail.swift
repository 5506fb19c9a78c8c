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

    public init(local: LocalMail?, names: MailNames) {
        self.local = local
        self.names = names
    }

    var store: (any MailStore)? { local }

    /// The account as the mail store knows it: by the name that capabilities carry as their
    /// subject. An account that gets no capabilities is known by its address.
    public func account(of account: Account) -> MailAccount {
        MailAccount(
            id: names.name(of: account) ?? account.address.description,
            address: account.address.description)
    }
}
