internal import Networking
internal import Synchronization

/// The bytes of requests and responses that all connections of a server may buffer together.
///
/// Guarantees: no more than `limit` is ever granted, and no more than `siteLimit` to the clients of
/// one site. So clients that stop in the middle of a body, or never read their responses, cost a
/// limited amount of memory, however many there are, and those of one site cannot use up all of it.
final class BufferBudget: Sendable {
    private struct State {
        var granted = 0
        /// Only sites that hold some.
        var bySite: [IPBlock: Int] = [:]
    }

    private let limit: Int
    private let siteLimit: Int
    private let state = Mutex(State())

    init(limit: Int, siteLimit: Int = .max) {
        self.limit = limit
        self.siteLimit = siteLimit
    }

    /// - Parameter site: nil to count only in the total.
    /// - Returns: false if the budget is too small; then no bytes are granted.
    func acquire(_ bytes: Int, for site: IPBlock? = nil) -> Bool {
        state.withLock { state in
            guard bytes <= limit - state.granted else { return false }
            if let site {
                let held = state.bySite[site, default: 0]
                guard bytes <= siteLimit - held else { return false }
                state.bySite[site] = held + bytes
            }
            state.granted += bytes
            return true
        }
    }

    func release(_ bytes: Int, of site: IPBlock? = nil) {
        state.withLock { state in
            state.granted -= bytes
            guard let site else { return }
            let rest = state.bySite[site, default: bytes] - bytes
            state.bySite[site] = rest == 0 ? nil : rest
        }
    }

    var grantedBytes: Int { state.withLock { $0.granted } }
}

/// The share of one connection in the ``BufferBudget``.
struct BufferCharge {
    /// Not charged: nearly every request and response fits in, so that clients that buffer much do
    /// not block clients that buffer little.
    static let freeBytes = 8_192

    private let budget: BufferBudget
    private let site: IPBlock?
    private var charged = 0

    /// - Parameter client: nil if the connection counts for no site.
    init(budget: BufferBudget, client: IPAddress? = nil) {
        self.budget = budget
        site = client?.site
    }

    /// Counts the connection for this client from now on.
    mutating func assign(_ client: IPAddress) {
        _ = update(heldBytes: 0)
        self = BufferCharge(budget: budget, client: client)
    }

    /// Charges or releases the difference to the last call.
    /// - Returns: false when the budget is too small; then nothing has changed.
    mutating func update(heldBytes: Int) -> Bool {
        let owed = max(0, heldBytes - BufferCharge.freeBytes)
        guard owed != charged else { return true }
        if owed > charged {
            guard budget.acquire(owed - charged, for: site) else { return false }
        } else {
            budget.release(charged - owed, of: site)
        }
        charged = owed
        return true
    }
}
