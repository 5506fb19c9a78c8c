internal import AuthAPI
internal import AuthCore
internal import Configuration
internal import Fetching
internal import Networking
internal import Platform
internal import Scheduling

/// Fetches password hashes for AuthCore, under the operator's rules. Logins and registrations have
/// threads, queues and slots of their own.
struct GuardedHashFetcher: HashFetcher {
    /// A fetch takes up to five seconds at registration; most are done at once.
    private static let busy = CommonError.busy(retryAfter: .seconds(2))
    private let logins: GuardedFetcher
    private let registrations: GuardedFetcher
    private let clock: ServerClock
    private let report: @Sendable (RemoteFailure) -> Void
    let loginResults = Counters<FetchResult>()
    let registrationResults = Counters<FetchResult>()

    /// The limits of the fetches for each purpose.
    struct Limits: Sendable {
        var logins = FetchLimits()
        var registrations = FetchLimits()

        /// - Parameter areShared: whether clients and sites have shares.
        init(areShared: Bool) {
            registrations.transfers = 32
            registrations.lookups = 16
            guard areShared else {
                logins.shares = .unlimited
                registrations.shares = .unlimited
                return
            }
            // One site cannot take both slots of a target. Others would have to wait for them.
            logins.perTargetAndSite = 1
            registrations.perTargetAndSite = 1
            registrations.perClient = 1
            registrations.perSite = 2
        }
    }

    /// - Parameter clock: the clock of the deadlines.
    init(
        _ settings: HashLoginSection, limits: Limits, clock: ServerClock = SystemClock.clocks,
        report: @escaping @Sendable (RemoteFailure) -> Void
    ) {
        logins = GuardedFetcher(rules: FetchRules(settings, limits: limits.logins))
        registrations = GuardedFetcher(
            rules: FetchRules(settings, limits: limits.registrations))
        self.clock = clock
        self.report = report
    }

    /// The threads for fetches, by purpose.
    var pools: [Metrics.NamedPool] {
        let (logins, registrations) = (logins.statistics, registrations.statistics)
        return [
            ("login_look_up", logins.lookups), ("login_fetch", logins.transfers),
            ("registration_look_up", registrations.lookups),
            ("registration_fetch", registrations.transfers),
        ]
    }

    func source(_ text: String) -> (any HashSource)? {
        // Clients get the same error for every fault of a URL. The rules differ only in their
        // limits.
        (try? FetchTarget(text, under: logins.rules)).map {
            Source(target: $0, fetcher: self)
        }
    }

    func checkQueue(for client: IPAddress) throws(CommonError) {
        if logins.isFull(for: client) { throw Self.busy }
    }

    private struct Source: HashSource {
        let target: FetchTarget
        let fetcher: GuardedHashFetcher

        var url: HashURL { HashURL(text: target.url) }

        func fetch(
            for purpose: HashFetchPurpose, by client: IPAddress,
            before deadline: ContinuousClock.Instant
        ) async throws -> [UInt8] {
            let (guarded, results) =
                switch purpose {
                case .login: (fetcher.logins, fetcher.loginResults)
                case .registration: (fetcher.registrations, fetcher.registrationResults)
                }
            do {
                let body = try await guarded.fetch(
                    target, for: client, by: fetcher.clock.systemTime(of: deadline))
                results.add(.fetched)
                return body
            } catch let error as FetchError {
                results.add(FetchResult(error.cause))
                fetcher.report(RemoteFailure(error, at: target.origin))
                throw HashFetchFailure(cause: error.description)
            } catch let error as TooManyFetches {
                results.add(.busy)
                fetcher.report(.fetch(origin: target.origin, cause: error.description))
                throw GuardedHashFetcher.busy
            }
        }
    }
}

extension FetchResult {
    fileprivate init(_ cause: FetchError.Cause) {
        if case .forbiddenAddress = cause { self = .forbidden } else { self = .failed }
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

extension FetchRules {
    fileprivate init(_ settings: HashLoginSection, limits: FetchLimits) {
        let ports = Set(settings.ports.compactMap { UInt16(exactly: $0) })
        self.init(
            allowsHTTP: settings.allowHTTP, allowsPrivateNetworks: settings.allowPrivateNetworks,
            ports: ports.isEmpty ? .any : .only(ports), certificateFile: settings.caFile,
            userAgent: "postern/\(Process.version)", limits: limits)
    }
}
