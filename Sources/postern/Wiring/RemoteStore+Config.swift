internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import Fetching
internal import RemoteMail

extension RemoteStore {
    /// - Returns: `nil` unless the mail of accounts is at a JMAP server.
    convenience init?(_ config: Config, report: @escaping @Sendable (RemoteFailure) -> Void) {
        let mail = config.mail
        guard mail.store == .jmap, let storeURL = mail.storeURL, let clientURL = mail.jmapURL else {
            return nil
        }
        let rules = mail.storeRules(areShared: config.limits.enabled)
        self.init(
            Settings(
                storeURL: storeURL.text, clientURL: clientURL.text,
                sessionPath: mail.jmapSession.path, timeout: mail.jmapSession.timeout,
                // A token that is sent has at least half of its lifetime left.
                credentialLifetime: config.tokens.capabilityLifetime / 2,
                certificateFile: rules.certificateFile, limits: rules.limits)
        ) { report(.mailRequest(origin: storeURL.origin, cause: $0)) }
    }
}

extension RemoteAccounts {
    /// - Returns: `nil` without a store.
    init?(_ store: RemoteStore?, _ services: MailServices, _ config: Config) {
        guard let store else { return nil }
        let isMinimal = config.services.storeToken == .minimal
        self.init(store: store) { account, caller throws(CommonError) in
            do throws(ServicesError) {
                return try await services.storeCapability(
                    of: account, isMinimal: isMinimal, to: caller)
            } catch {
                throw CommonError(error)
            }
        }
    }
}
