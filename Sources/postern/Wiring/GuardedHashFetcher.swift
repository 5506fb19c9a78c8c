internal import AuthCore
internal import Fetching

/// Fetches password hashes for AuthCore, under the operator's rules.
struct GuardedHashFetcher: HashFetcher {
    /// A fetch takes up to five seconds at registration; most are done at once.
    private static let busy = CommonError.busy(retryAfter: .seconds(2))
    private let fetcher: GuardedFetcher
    private let report: @Sendable (RemoteFailure) -> Void

    init(
        _ settings: HashLoginSection, limits: FetchLimits = FetchLimits(),
        report: @escaping @Sendable (RemoteFailure) -> Void
    ) {
        let ports = Set(settings.ports.compactMap { UInt16(exactly: $0) })
        fetcher = GuardedFetcher(
            rules: FetchRules(
                allowsHTTP: settings.allowHTTP,
                allowsPrivateNetworks: settings.allowPrivateNetworks,
                ports: ports.isEmpty ? .any : .only(ports), certificateFile: settings.caFile,
                userAgent: "postern/\(Process.version)", limits: limits))
        self.report = report
    }

    func source(_ text: String) -> (any HashSource)? {
        // Clients get one error whatever is wrong with the URL.
        (try? FetchTarget(text, under: fetcher.rules)).map {
            Source(target: $0, fetcher: fetcher, report: report)
        }
    }

    func checkQueue() throws(CommonError) {
        if fetcher.isFull { throw Self.busy }
    }

    private struct Source: HashSource {
        let target: FetchTarget
        let fetcher: GuardedFetcher
        let report: @Sendable (RemoteFailure) -> Void

        var url: HashURL { HashURL(text: target.url) }

        func fetch(before deadline: ContinuousClock.Instant) async throws -> [UInt8] {
            do {
                return try await fetcher.fetch(target, by: deadline)
            } catch let error as FetchError {
                report(RemoteFailure(error, at: target.origin))
                throw HashFetchFailure(cause: error.description)
            } catch let error as TooManyFetches {
                report(.fetch(origin: target.origin, cause: error.description))
                throw GuardedHashFetcher.busy
            }
        }
    }
}

extension RemoteFailure {
    fileprivate init(_ error: FetchError, at origin: String) {
        if case .forbiddenAddress = error.cause {
            self = .forbiddenAddress(origin: origin, cause: error.description)
        } else {
            self = .fetch(origin: origin, cause: error.description)
        }
    }
}
