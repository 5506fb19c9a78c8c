/// How a client names an account: by its id or by its full address.
public enum AccountReference: Equatable, Sendable {
    case id(AccountID)
    case address(Address)

    /// - Returns: `nil` for what can name no account.
    public init?(_ text: String) {
        if let id = AccountID(text) {
            self = .id(id)
        } else if let address = Address(parsing: text) {
            self = .address(address)
        } else {
            return nil
        }
    }
}

extension AccountsAuth {
    /// The account that `reference` names, if `identity` may have it.
    ///
    /// An Email JWT opens its own account; any other, there or not, is ``Refusal/forbidden``. A
    /// Pro token opens what its user owns; any other, there or not, is ``Refusal/notFound``.
    public func account(
        _ reference: AccountReference?, for identity: Identity
    ) async throws -> Account {
        switch try identity.verified() {
        case .account(let own):
            switch reference {
            case .id(own.id), .address(own.address): return own
            default: throw Refusal.forbidden
            }
        case .user(let user):
            let found: Account? =
                switch reference {
                case .id(let id): try await stores.accounts.account(id: id)
                case .address(let address): try await stores.accounts.account(address: address)
                case nil: nil
                }
            guard let found, found.owner == user.id else { throw Refusal.notFound }
            return found
        case .nobody, .invalid: throw Refusal.missingToken
        }
    }

    /// Gives the account a new password; every token of it is dead.
    ///
    /// Of any number of resets racing with one Email JWT exactly one succeeds, the others are
    /// ``Refusal/invalidToken``. The operator alone opens what the operator has disabled:
    /// ``Refusal/forbidden``.
    public func resetPassword(
        of reference: AccountReference?, to secret: MailboxSecret, as identity: Identity,
        by caller: Caller
    ) async throws {
        let account = try await account(reference, for: identity)
        try secret.checkLength()
        guard account.state == .active else { throw Refusal.forbidden }
        let hash = try await hasher.hash(secret.forHashing(at: account.address))
        let event = AuditEvent(
            .credentialReset, by: caller, actor: identity.actor,
            subject: account.address.description)
        if try await stores.accounts.replaceCredential(
            of: account.id, at: account.credentialVersion, with: .password(hash), recording: event)
        {
            return
        }
        guard case .user = identity else { throw Refusal.invalidToken }
        // Another reset came between; the owner's token is as good as before, and the last of two
        // resets counts.
        let now = try await self.account(reference, for: identity)
        guard
            try await stores.accounts.replaceCredential(
                of: now.id, at: now.credentialVersion, with: .password(hash), recording: event)
        else { throw Refusal.busy(retryAfter: .seconds(1)) }
    }

    /// Deletes the account with all its tokens; its address is not given out again.
    public func deleteAccount(
        _ reference: AccountReference?, as identity: Identity, by caller: Caller
    ) async throws {
        let account = try await account(reference, for: identity)
        let event = AuditEvent(
            .accountDeleted, by: caller, actor: identity.actor,
            subject: account.address.description)
        // An Email JWT is good for as long as its password is; the owner's token for any.
        let isOwner = if case .user = identity { true } else { false }
        guard
            try await stores.accounts.delete(
                account.id, at: isOwner ? nil : account.credentialVersion, recording: event)
        else { throw isOwner ? Refusal.notFound : Refusal.invalidToken }
    }
}
