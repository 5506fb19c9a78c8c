internal import Cryptography
internal import WebAuthn

/// What a browser sends of a passkey that was used (`AuthenticatorAssertionResponse`).
public struct PasskeyAssertion: Equatable, Sendable {
    /// The credential's id.
    public let credential: [UInt8]
    public let clientData: [UInt8]
    public let authenticatorData: [UInt8]
    public let signature: [UInt8]
    /// What the server called the user at the registration; `nil` where the authenticator does not
    /// keep it.
    public let userHandle: [UInt8]?

    public init(
        credential: [UInt8], clientData: [UInt8], authenticatorData: [UInt8],
        signature: [UInt8], userHandle: [UInt8]?
    ) {
        self.credential = credential
        self.clientData = clientData
        self.authenticatorData = authenticatorData
        self.signature = signature
        self.userHandle = userHandle
    }
}

/// Checks passkeys at a login: throttles, spends the challenge, compares the signature counter,
/// counts failures, records them.
struct PasskeyLogin: UseCases {
    typealias Failure = AccountsError

    /// A challenge of this server that has not expired.
    struct Challenge {
        let token: any AnsweredToken
        let expiry: Instant
    }

    let site: RelyingParty
    let passkeys: any PasskeyStore
    let challenges: any ChallengeLedger
    let throttle: LoginThrottle
    let audit: any AuditLog

    /// - Parameter owner: whose passkey it must be; `nil` when the passkey says who logs in. Then
    ///   the authenticator must name the user, too (Web Authentication §7.2 step 6).
    /// - Returns: the owner as read before the check, and whether the authenticator has verified
    ///   who uses it.
    /// - Throws: ``AccountsError/invalidCredentials`` once the failure is counted and recorded.
    func check(
        _ assertion: PasskeyAssertion, answering challenge: Challenge, of owner: UserID?,
        by caller: Caller
    ) async throws(AccountsError) -> (user: User, isUserVerified: Bool) {
        let found = try await attempt(
            await passkeys.holder(credential: assertion.credential))
        let name = LoginName.passkey(found?.owner.email)
        do {
            let attempt = try await throttle.begin(name, by: caller)
            let result: Result
            do {
                result = try await verify(assertion, of: found, answering: challenge, owner, caller)
            } catch {
                attempt.end(after: error)
                throw error
            }
            if case .valid(let user, let isUserVerified) = result {
                attempt.end(as: .succeeded)
                return (user, isUserVerified)
            }
            attempt.end(as: .failed)
            if case .copied = result {
                try await audit.append(
                    AuditEvent(
                        .passkeyRejected, by: caller, actor: .anonymous, subject: name.subject))
            }
            try await audit.append(
                AuditEvent(.loginFailed, by: caller, actor: .anonymous, subject: name.subject))
        } catch {
            throw .common(CommonError(error))
        }
        throw .invalidCredentials
    }

    /// Whether the passkey of an assertion is still there.
    func isStored(_ assertion: PasskeyAssertion) async throws(AccountsError) -> Bool {
        try await attempt(await passkeys.holder(credential: assertion.credential)) != nil
    }

    private enum Result {
        case valid(User, isUserVerified: Bool)
        case invalid
        /// The signature is valid, and the counter does not rise: there may be a copy of the
        /// authenticator, or the assertion was sent twice.
        case copied
    }

    private func verify(
        _ assertion: PasskeyAssertion, of found: (passkey: Passkey, owner: User)?,
        answering challenge: Challenge, _ owner: UserID?, _ caller: Caller
    ) async throws -> Result {
        guard let (passkey, user) = found, user.state == .active, owner ?? user.id == user.id,
            assertion.userHandle ?? (owner == nil ? nil : user.handle) == user.handle,
            let verified = try verified(assertion, by: passkey, challenge.token.challenge),
            try await challenges.spend(challenge.token.id, expiry: challenge.expiry)
        else { return .invalid }
        guard
            try await passkeys.noteUse(
                of: passkey.id, count: Int64(verified.signatureCount), at: caller.now)
        else { return .copied }
        return .valid(user, isUserVerified: verified.isUserVerified)
    }

    private func verified(
        _ assertion: PasskeyAssertion, by passkey: Passkey, _ challenge: [UInt8]
    ) throws -> VerifiedAssertion? {
        let key = try PublicKey(pem: passkey.publicKey)
        do throws(WebAuthnError) {
            return try VerifiedAssertion(
                clientData: assertion.clientData,
                authenticatorData: assertion.authenticatorData, signature: assertion.signature,
                challenge: challenge, by: key, at: site)
        } catch {
            return nil
        }
    }
}

extension User {
    /// What authenticators call the user (Web Authentication §5.4.3): at most 64 bytes, without
    /// anything that tells who it is.
    public var handle: [UInt8] { Array(id.text.utf8) }
}
