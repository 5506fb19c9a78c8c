import AuthCore
import Testing

/// The protocols' methods without limits and events, for tests that do not need them.
extension AccountStore {
    func insert(_ account: Account) async throws -> Bool {
        try await insert(account, limit: nil, recording: event(.accountCreated)) == .inserted
    }

    func replaceCredential(
        of id: AccountID, at version: Int64, with credential: Credential
    ) async throws -> Bool {
        try await replaceCredential(
            of: id, at: version, with: credential, recording: event(.credentialReset))
    }

    func delete(_ id: AccountID, at version: Int64?) async throws -> Bool {
        try await delete(id, at: version, recording: event(.accountDeleted))
    }
}

extension AccountDirectory {
    func setState(of id: AccountID, to state: Account.State) async throws -> Bool {
        try await setState(of: id, to: state, recording: event(.accountDisabled))
    }

    func free(_ address: Address) async throws -> Bool {
        try await free(address, recording: event(.addressFreed))
    }
}

extension UserStore {
    func insert(_ user: User) async throws -> Bool {
        try await insert(user, recording: event(.userCreated))
    }

    func replacePassword(
        of id: UserID, at version: Int64, with password: PasswordHash,
        recording event: AuditEvent = event(.credentialReset)
    ) async throws -> Bool {
        try await replacePassword(
            of: id, at: version, with: password, revokingTokens: false, recording: event)
    }

    func endSessions(of id: UserID, at version: Int64) async throws -> Bool {
        try await endSessions(of: id, at: version, recording: event(.userLoggedOut))
    }
}

extension UserDirectory {
    func setState(of id: UserID, to state: User.State) async throws -> Bool {
        try await setState(of: id, to: state, recording: event(.userDisabled))
    }
}

extension PasskeyStore {
    func insert(
        _ passkey: Passkey, limit: Int, recording event: AuditEvent
    ) async throws -> PasskeyInsertion {
        try await insert(passkey, limit: limit, recording: event, ending: nil)
    }

    func removePasskey(
        _ id: PasskeyID, of owner: UserID, keepingAccess: Bool, recording event: AuditEvent
    ) async throws -> PasskeyRemoval {
        try await removePasskey(
            id, of: owner, keepingAccess: keepingAccess, recording: event, ending: nil)
    }
}

extension IdentityStore {
    func insert(
        _ identity: Identity, at version: Int64, recording event: AuditEvent
    ) async throws -> IdentityInsertion {
        try await insert(identity, at: version, recording: event, ending: nil)
    }

    func removeIdentity(
        _ id: IdentityID, of owner: UserID, keepingAccess: Bool, recording event: AuditEvent
    ) async throws -> IdentityRemoval {
        try await removeIdentity(
            id, of: owner, keepingAccess: keepingAccess, recording: event, ending: nil)
    }
}

extension SecondFactorStore {
    func insert(
        _ totp: StoredTOTP, recoveryCodes: [APIKeyDigest], recording event: AuditEvent
    ) async throws -> Bool {
        try await insert(totp, recoveryCodes: recoveryCodes, recording: event, ending: nil)
    }

    func removeTOTP(of owner: UserID, recording event: AuditEvent) async throws -> Bool {
        try await removeTOTP(of: owner, recording: event, ending: nil)
    }

    func replaceRecoveryCodes(
        of owner: UserID, by digests: [APIKeyDigest], recording event: AuditEvent
    ) async throws -> Bool {
        try await replaceRecoveryCodes(of: owner, by: digests, recording: event, ending: nil)
    }
}

extension UserSessionStore {
    /// Of a login without a second factor.
    func insert(
        _ session: UserSession, at version: Int64, limit: Int, recording event: AuditEvent?
    ) async throws -> Bool {
        try await insert(
            session, at: version, hasSecondFactor: false, limit: limit, recording: event)
            == .inserted
    }

    func insert(
        _ session: UserSession, at version: Int64 = 1, recording event: AuditEvent? = nil
    ) async throws -> Bool {
        try await insert(session, at: version, limit: 100, recording: event)
    }

    func insert(_ session: UserSession, limit: Int) async throws -> Bool {
        try await insert(session, at: 1, limit: limit, recording: nil)
    }
}

extension APITokenStore {
    func token(digest: APIKeyDigest) async throws -> APIToken? {
        try await holder(digest: digest)?.token
    }

    func insert(_ token: APIToken) async throws -> Bool {
        try await insert(token, limit: .max, recording: event(.tokenCreated))
    }

    func insert(
        _ token: APIToken, limit: Int, recording event: AuditEvent
    ) async throws -> Bool {
        try await insert(
            token, by: .session(version: 1), limit: limit, recording: event) == .inserted
    }

    func revoke(_ id: APITokenID, of owner: UserID, at now: Int64) async throws -> Bool {
        try await revoke(
            id, of: owner, at: Instant(milliseconds: now), recording: event(.tokenRevoked))
    }
}

extension DomainStore {
    func insert(_ domain: HostedDomain) async throws -> DomainInsertion {
        try await insert(domain, limit: nil, recording: event(.domainAdded))
    }

    func setVerification(
        of id: DomainID, to verification: HostedDomain.Verification, hasMX: Bool = true,
        at now: Int64
    ) async throws -> HostedDomain.Verification? {
        try await setVerification(
            of: id, to: verification, hasMX: hasMX, at: Instant(milliseconds: now),
            recording: event(.domainVerified))
    }

    func removeDomain(_ id: DomainID, of owner: UserID?) async throws -> DomainRemoval {
        try await removeDomain(id, of: owner, recording: event(.domainRemoved))
    }
}

extension SigningKeyStore {
    func rotate(
        to key: SealedKey, replacing replaced: ReplacedKeys = .all, retiring: Instant,
        recording event: AuditEvent = event(.keyRotated)
    ) async throws {
        let isMade: Bool = try await rotate(
            to: key, replacing: replaced, retiring: retiring, recording: event)
        #expect(isMade)
    }
}

extension AuditLog {
    /// The subjects of all events, oldest first.
    var subjects: [String] {
        get async throws { try await events(after: nil, limit: .max).map(\.event.subject) }
    }
}
