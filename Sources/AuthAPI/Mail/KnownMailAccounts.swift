internal import AuthCore
internal import Synchronization

/// What the mail in this process needs to know of its accounts, as it was when they were last used.
public final class KnownMailAccounts: Sendable {
    private struct Known {
        let id: AccountID
        let address: Address
        let quota: Int
    }

    private let accounts = Mutex<[String: Known]>([:])

    public init() {}

    /// The greatest size of the mail of the account with this name, in bytes.
    public func quota(of name: String) -> Int {
        accounts.withLock { $0[name]?.quota } ?? 0
    }

    /// - Returns: whether another account had the name before.
    func note(_ account: Account, named name: String) -> Bool {
        let new = Known(
            id: account.id, address: account.address, quota: Int(clamping: account.quota))
        let old = accounts.withLock { $0.updateValue(new, forKey: name) }
        return old.map { $0.id != account.id } ?? false
    }

    /// - Returns: the name that the account had; `nil` if it is not known.
    func remove(_ address: Address) -> String? {
        accounts.withLock { accounts in
            guard let name = accounts.first(where: { $0.value.address == address })?.key else {
                return nil
            }
            accounts.removeValue(forKey: name)
            return name
        }
    }
}
