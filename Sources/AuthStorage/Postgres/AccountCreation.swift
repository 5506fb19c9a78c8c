internal import AuthCore

/// An account that is to be inserted, with the event that records it.
struct AccountCreation: Sendable {
    let account: Account
    let domain: DomainID?
    let event: AuditEvent
    /// The id of the attempt in a batch, and of later attempts while its outcome is uncertain.
    let writeID: [UInt8]
    /// How many accounts the owner may have.
    private let bound: Int64?

    /// - Parameters: as those of ``AccountStore/insert(_:on:limit:recording:)``.
    init(account: Account, domain: DomainID?, limit: Int?, event: AuditEvent) {
        self.account = account
        self.domain = domain
        self.event = event
        writeID = WriteID.make(at: event.time)
        bound = account.owner == nil ? nil : limit.map { Int64(max(0, $0)) }
    }

    /// The values of the account in the order of `Account.columns`, the domain, the limit, and
    /// since when deleted accounts count.
    var values: [PostgresValue] {
        [
            .id(account.id), .text(account.address.description), .text(account.state.rawValue),
            account.credential.digestParameter, .integer(account.credentialVersion),
            .instant(account.created), account.credential.passwordParameter, .id(account.owner),
            .integer(account.quota), .integer(account.used), .id(domain), PostgresValue(bound),
            .instant(event.time.advanced(by: .zero - Account.retirementPeriod)),
        ]
    }
}

extension Credential {
    var digestParameter: PostgresValue {
        switch self {
        case .apiKey(let digest): .bytes(digest.bytes)
        case .password: .null
        }
    }

    var passwordParameter: PostgresValue {
        switch self {
        case .apiKey: .null
        case .password(let hash): .text(hash.encoded)
        }
    }
}
