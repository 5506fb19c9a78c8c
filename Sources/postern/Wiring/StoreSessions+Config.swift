internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import Fetching
internal import Networking

extension StoreSessions {
    /// - Returns: `nil` while session objects are made from the settings.
    /// - Throws: `MalformedTarget`, which the rules of the configuration rule out.
    convenience init?(
        _ config: Config, report: @escaping @Sendable (RemoteFailure) -> Void
    ) throws {
        let mail = config.mail
        guard let storeURL = mail.proxiedStoreURL, let clientURL = mail.jmapURL else { return nil }
        let fetcher = GuardedFetcher(
            rules: mail.storeRules(areShared: config.limits.enabled))
        let target = try FetchTarget(storeURL.text + mail.jmapSession.path, under: fetcher.rules)
        self.init(
            storeURL: storeURL.text, clientURL: clientURL.text,
            lifetime: mail.jmapSession.lifetime,
            sendsStoreToken: config.services.storeToken == .minimal,
            fetch: { [timeout = mail.jmapSession.timeout] token, client in
                do {
                    return try await fetcher.fetch(
                        target,
                        headers: [
                            ("Authorization", "Bearer \(token)"), ("Accept", "application/json"),
                        ], for: client, by: .now + timeout)
                } catch let error as TooManyFetches {
                    report(.mailStore(origin: target.origin, cause: error.description))
                    throw CommonError.busy(retryAfter: .seconds(2))
                }
            },
            report: { report(.mailStore(origin: target.origin, cause: $0)) })
    }
}
