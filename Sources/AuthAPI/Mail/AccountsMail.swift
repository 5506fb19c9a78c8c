public import AuthCore
public import LocalMail
internal import Scheduling

/// The mail of accounts: where it is, and by which name.
///
/// `mail.store` decides. Without a store that this server can ask, ``store`` is `nil`, and the
/// endpoints that need one answer 503.
public struct AccountsMail: Sendable {
    /// A server that has no mail.
    public static let none = AccountsMail(
        local: nil, names: nil,
        work: MailWork(pool: WorkerPool(name: "mail", lanes: 1, depth: 0)))

    /// The mail in this process; `nil` unless `mail.store` is `local`.
    public let local: LocalMail?
    private let names: MailNames?
    private let known: KnownMailAccounts
    let work: MailWork

    /// - Parameters:
    ///   - names: `nil` where accounts are known by their addresses.
    ///   - known: the accounts of `local`.
    public init(
        local: LocalMail?, names: MailNames?, known: KnownMailAccounts = KnownMailAccounts(),
        work: MailWork
    ) {
        self.local = local
        self.names = names
        self.known = known
        self.work = work
    }

    var store: (any MailStore)? { local }

    /// The account as the mail store knows it: by the name that capabilities carry as their
    /// subject. An account that gets no capabilities is known by its address.
    public func account(of account: Account) -> MailAccount {
        let name = names?.name(of: account) ?? account.address.description
        // Another process of the operator may have deleted the account that had the name.
        if let local, known.note(account, named: name) { local.remove(accountID: name) }
        return MailAccount(id: name, address: account.address.description)
    }

    /// Removes the mail of an account that was deleted.
    public func remove(_ address: Address) {
        guard let name = known.remove(address) else { return }
        local?.remove(accountID: name)
    }

    /// The bytes of the account's mail: as the store counts them now or, without a store that
    /// answers, as they were last reported.
    func usedBytes(of account: Account) async -> Int64 {
        guard let store else { return account.used }
        do throws(MailStoreError) {
            return Int64(try await store.usedBytes(of: self.account(of: account)))
        } catch {
            return account.used
        }
    }
}
