public import IdentityProviders
public import Networking

/// An identity provider that users sign in with.
public struct LoginProvider: Sendable {
    /// The name in URLs: 1 to 32 of `a-z 0-9 -`.
    public let name: String
    /// What people call it.
    public let label: String
    /// Where emails must be; empty for everywhere.
    let allowedDomains: [Domain]
    let client: ProviderClient

    public init(
        name: String, label: String, allowedDomains: [Domain], client: ProviderClient
    ) {
        self.name = name
        self.label = label
        self.allowedDomains = allowedDomains
        self.client = client
    }

    /// Fetches what sign-ins begin with, for the operator.
    /// - Throws: why no sign-in would succeed.
    public func check(for client: IPAddress) async throws(ProviderError) {
        try await self.client.check(
            ProviderClient.SignIn(
                secrets: SignInSecrets(secret: []), redirectURI: "", client: client, now: 0,
                arrival: .now))
    }

    /// - Throws: ``AccountsError/emailNotAllowed`` for an email elsewhere, and for one that the
    ///   provider has not verified.
    func check(_ identity: ProviderIdentity) throws(AccountsError) {
        guard !allowedDomains.isEmpty else { return }
        guard let email = identity.verifiedEmail, allowedDomains.contains(email.domain) else {
            throw .emailNotAllowed
        }
    }
}

extension ProviderIdentity {
    /// `nil` also for an email that no user here can have.
    var verifiedEmail: Email? { isEmailVerified ? email.flatMap(Email.init(parsing:)) : nil }
}
