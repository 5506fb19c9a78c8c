internal import ArgumentParser
internal import AuthCore
internal import Platform

/// `postern user unlink`: for a user who has lost the account at an identity provider.
struct UserUnlinkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlink",
        abstract: "Remove a user's identity at an identity provider.",
        discussion: """
            Nobody can log in with it from now on, and all sessions of the user end. It is removed \
            also if the user has no other way to log in; then `postern user passwd` sets a \
            password. `postern user list` shows the providers of each user.

            Examples:
              postern user unlink ada@example.com google
            """)

    @OptionGroup var options: ConfigOptions
    @Argument(help: "The user's email address.", transform: parseEmail) var email: Email
    @Argument(help: "The name of the provider, or its issuer.") var provider: String

    func run() async throws {
        try await withUser(email, options) { stores, user, _ in
            let identities = try await stores.identities.identities(of: user.id)
                .filter { $0.provider == provider || $0.issuer == provider }
            guard !identities.isEmpty else {
                Output.message("\(email) has no identity at \(provider.printable())")
                throw ExitCode.failure
            }
            for identity in identities {
                _ = try await stores.identities.removeIdentity(
                    identity.id, of: user.id, keepingAccess: false,
                    recording: AuditEvent(
                        .identityUnlinked, time: SystemClock.now(), actor: .operator,
                        subject: identity.eventSubject(of: email)), ending: nil)
                Output.print("unlinked \(identity.provider) from \(email)")
            }
            // `false`: another process has ended them meanwhile.
            _ = try await stores.users.endSessions(
                of: user.id, at: user.credentialVersion,
                recording: .byOperator(.userLoggedOut, email))
            return true
        }
    }
}
