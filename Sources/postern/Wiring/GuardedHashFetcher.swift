internal import AuthCore
internal import Fetching

/// Fetching as AuthCore asks for it: what a hash URL serves, under the operator's rules.
struct GuardedHashFetcher: HashFetcher {
    /// A fetch takes up to five seconds at registration, and most take none.
    private static let busy = Refusal.busy(retryAfter: .seconds(2))
    private let fetcher: GuardedFetcher
    private let log: @Sendable (String, String) -> Void

    /// - Parameter log: told why a host could not be fetched from, which the client is not.
    init(
        _ settings: HashLoginSection, limits: FetchLimits = FetchLimits(),
        log: @escaping @Sendable (_ cause: String, _ origin: String) -> Void
    ) {
        let ports = Set(settings.ports.compactMap { UInt16(exactly: $0) })
        fetcher = GuardedFetcher(
            rules: FetchRules(
                allowsHTTP: settings.allowHTTP,
                allowsPrivateNetworks: settings.allowPrivateNetworks,
                ports: ports.isEmpty ? .any : .only(ports), certificateFile: settings.caFile,
                userAgent: "postern/\(Process.version)", limits: limits))
        self.log = log
    }

    func url(parsing text: String) -> HashURL? {
        // What is wrong with it is said in one sentence, whatever it is.
        (try? FetchTarget(text, under: fetcher.rules)).map { HashURL(text: $0.url) }
    }

    func demandRoom() throws(Refusal) {
        if fetcher.isFull { throw Self.busy }
    }

    func fetch(_ url: HashURL, timeout: Duration) async throws -> [UInt8] {
        let target: FetchTarget
        do {
            target = try FetchTarget(url.text, under: fetcher.rules)
        } catch {
            throw HashFetchFailure(cause: "the URL may not be fetched any more")
        }
        do {
            return try await fetcher.fetch(target, by: .now + timeout)
        } catch let failure as FetchError {
            log(failure.description, target.origin)
            throw HashFetchFailure(cause: failure.description)
        } catch let crowd as TooManyFetches {
            log(crowd.description, target.origin)
            throw Self.busy
        }
    }
}
