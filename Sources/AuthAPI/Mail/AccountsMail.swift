public import AuthCore
public import LocalMail
public import RemoteMail
internal import Scheduling

/// The mail of accounts: where it is, and by which name.
///
/// `mail.store` decides. Without a store that this server can ask, the endpoints that need one
/// answer 503.
public struct AccountsMail: Sendable {
    /// A server that has no mail.
    public static let none = AccountsMail(
        local: nil, names: nil,
        work: MailWork(pool: WorkerPool(name: "mail", lanes: 1, depth: 0)))

    /// The mail in this process; `nil` unless `mail.store` is `local`.
    public let local: LocalMail?
    /// The mail at another server; `nil` unless `mail.store` is `jmap`.
    private let remote: RemoteAccounts?
    private let names: MailNames?
    private let known: KnownMailAccounts
    let work: MailWork

    /// - Parameters:
    ///   - names: `nil` where accounts are known by their addresses.
    ///   - known: the accounts of `local`.
    public init(
        local: LocalMail?, names: MailNames?, known: KnownMailAccounts = KnownMailAccounts(),
        work: MailWork, remote: RemoteAccounts? = nil
    ) {
        self.local = local
        self.remote = remote
        self.names = names
        self.known = known
        self.work = work
    }

    /// The account's mail, and the account as its store knows it.
    /// - Throws: ``AuthCore/AccountsError/forbidden`` where the store could take the account for
    ///   another one.
    func mailbox(
        of account: Account, for caller: Caller
    ) throws(AccountsError) -> (store: any MailStore, account: MailAccount) {
        if let local {
            let store = LocalMessages(mail: local, work: work, client: caller.address)
            return (store, self.account(of: account))
        }
        guard let remote else { throw .mailStoreMissing }
        guard names?.name(of: account) != nil else { throw .forbidden }
        return (remote.mail(of: account, for: caller), self.account(of: account))
    }

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

    /// The bytes of the account's mail: as they are counted in this process or, with another store,
    /// as it last reported them to `/usage`. A store is not asked for them, because accounts are
    /// read far more often than mail arrives.
    func usedBytes(of account: Account) -> Int64 {
        guard let local else { return account.used }
        return Int64(local.mail(of: self.account(of: account)).usedBytes)
    }
}

/// The mail of accounts at another server.
public struct RemoteAccounts: Sendable {
    let store: RemoteStore
    /// Signs the capability with which the store is asked for the account's mail.
    let token: @Sendable (Account, Caller) async throws(CommonError) -> String

    public init(
        store: RemoteStore,
        token: @escaping @Sendable (Account, Caller) async throws(CommonError) -> String
    ) {
        self.store = store
        self.token = token
    }

    func mail(of account: Account, for caller: Caller) -> RemoteMail {
        store.mail(for: caller.address) { [token] () async throws(MailStoreError) in
            do throws(CommonError) {
                return try await token(account, caller)
            } catch {
                switch error {
                case .busy(let wait): throw .unavailable(retryAfter: wait)
                default: throw .failed(error)
                }
            }
        }
    }
}

extension AccountsError {
    /// Asks a mail store, and turns its error into one of this API.
    static func of<T>(
        _ work: () async throws(MailStoreError) -> T
    ) async throws(AccountsError) -> T {
        do throws(MailStoreError) {
            return try await work()
        } catch {
            switch error {
            case .notFound: throw .notFound
            case .unavailable(let wait): throw .mailStoreUnavailable(retryAfter: wait)
            case .invalidResponse: throw .invalidStoreResponse
            case .failed(let cause): throw .common(CommonError(cause))
            }
        }
    }
}
