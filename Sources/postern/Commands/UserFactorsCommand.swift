internal import ArgumentParser
internal import AuthCore
internal import Platform

/// `postern user factors`: for a user who has lost what they log in with.
struct UserFactorsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "factors",
        abstract: "List or remove the passkeys and the one-time codes of a user.",
        discussion: """
            Removing one ends all sessions of the user. Make sure first that it is the user who \
            asks for it: whoever knows the password can log in once the second factor is removed.

            Examples:
              postern user factors ada@example.com
              postern user factors ada@example.com --remove-totp
              postern user factors ada@example.com --remove-passkey \
            4b1d5a52-6f0e-4f57-9d1c-0a2b3c4d5e6f
            """)

    @OptionGroup var options: ConfigOptions
    @Argument(help: "The user's email address.", transform: parseEmail) var email: Email
    @Flag(help: "Turn one-time codes off and remove the recovery codes.") var removeTOTP = false
    @Option(help: "Remove the passkey with this id.", transform: parsePasskeyID)
    var removePasskey: PasskeyID?

    func run() async throws {
        try await withUser(email, options) { stores, user, _ in
            if removeTOTP {
                let isRemoved = try await stores.secondFactors.removeTOTP(
                    of: user.id, recording: .byOperator(.totpDisabled, email), ending: nil)
                try report(isRemoved, "the one-time codes")
            }
            if let removePasskey {
                let result = try await stores.passkeys.removePasskey(
                    removePasskey, of: user.id, keepingAccess: false,
                    recording: .byOperator(.passkeyRemoved, email), ending: nil)
                try report(result == .removed, "passkey \(removePasskey)")
            }
            guard removeTOTP || removePasskey != nil else {
                try await list(stores, user)
                return true
            }
            // `false`: another process has ended them meanwhile.
            _ = try await stores.users.endSessions(
                of: user.id, at: user.credentialVersion,
                recording: .byOperator(.userLoggedOut, email))
            return true
        }
    }

    private func report(_ isRemoved: Bool, _ name: String) throws {
        guard isRemoved else {
            Output.message("\(email) does not have \(name)")
            throw ExitCode.failure
        }
        Output.print("removed \(name) of \(email)")
    }

    private func list(_ stores: Stores, _ user: User) async throws {
        let factors = try await stores.secondFactors.factors(of: user.id)
        if let created = factors.totpCreated {
            try Output.deliver(
                "one-time codes  since \(created.rfc3339)  "
                    + "recovery codes left: \(factors.recoveryCodes)")
        }
        for passkey in try await stores.passkeys.passkeys(of: user.id) {
            let used = passkey.lastUsed?.rfc3339 ?? "never used"
            try Output.deliver(
                "passkey  \(passkey.id)  \(passkey.created.rfc3339)  \(used)  "
                    + passkey.name.printable())
        }
        if factors.totpCreated == nil, factors.passkeys == 0 {
            Output.message("\(email) has no passkey and no one-time codes")
        }
    }
}

private func parsePasskeyID(_ text: String) throws -> PasskeyID {
    guard let id = PasskeyID(text) else {
        throw ValidationError("\(text.printable()) is not the id of a passkey.")
    }
    return id
}
