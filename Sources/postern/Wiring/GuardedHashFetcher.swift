internal import AuthCore
internal import Fetching

/// Fetching as AuthCore asks for it: what a hash URL serves, under the operator's rules.
struct GuardedHashFetcher: HashFetcher {
    private let fetcher: GuardedFetcher
    private let log: @Sendable (FetchFailure, String) -> Void

    /// - Parameter log: told the cause of a failure, which the client is not.
    init(
        _ settings: Config.HashLogin,
        log: @escaping @Sendable (_ failure: FetchFailure, _ host: String) -> Void
    ) {
        let ports = Set(settings.ports.compactMap { UInt16(exactly: $0) })
        fetcher = GuardedFetcher(
            rules: FetchRules(
                allowsHTTP: settings.allowHTTP,
                allowsPrivateNetworks: settings.allowPrivateNetworks,
                ports: ports.isEmpty ? .any : .only(ports), certificateFile: settings.caFile,
                userAgent: "postern/\(Version.text)"))
        self.log = log
    }

    func url(parsing text: String) -> HashURL? {
        // What is wrong with it is said in one sentence, whatever it is.
        (try? FetchTarget(text, under: fetcher.rules)).map { HashURL(text: $0.url) }
    }

    func fetch(_ url: HashURL, timeout: Duration) async throws -> [UInt8] {
        do {
            let target = try FetchTarget(url.text, under: fetcher.rules)
            do {
                return try await fetcher.fetch(target, within: timeout)
            } catch let failure as FetchFailure {
                log(failure, origin(of: target.url))
                throw failure
            }
        } catch let failure as FetchFailure {
            throw HashFetchFailure(cause: failure.description)
        } catch is MalformedTarget {
            throw HashFetchFailure(cause: "the URL may not be fetched any more")
        } catch is TooManyFetches {
            throw HashFetchFailure(cause: "too many fetches are under way")
        }
    }

    /// Scheme, host and port: what comes after may be meant for nobody's log.
    private func origin(of url: String) -> String {
        url.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//")
    }
}
