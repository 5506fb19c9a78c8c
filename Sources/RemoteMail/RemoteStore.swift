public import Fetching
public import LocalMail
public import Networking
internal import StrictJSON
internal import Synchronization

/// The mail store at another server.
///
/// Guarantees: a credential is sent to the store's URL only; each request ends within its time; no
/// answer larger than its limit is kept; no text of the store decides what is asked of it without
/// having been checked.
public final class RemoteStore: Sendable {
    public struct Settings: Sendable {
        /// The URLs at which this server and clients reach the store; without a slash at the end.
        public var storeURL: String
        public var clientURL: String
        /// Where the store serves the session object (RFC 8620 §2).
        public var sessionPath: String
        /// For one request. A download has five times as long.
        public var timeout: Duration
        /// How long a credential is used; shorter than its lifetime.
        public var credentialLifetime: Duration
        /// PEM certificates to trust in place of the system's.
        public var certificateFile: String?
        /// How many requests run at once, and the shares of clients and sites.
        public var limits: FetchLimits
        /// When a wait asks for new mail: first, then where the store has no event source, and
        /// where it has one.
        public var pollIntervals = PollIntervals()

        public init(
            storeURL: String, clientURL: String, sessionPath: String, timeout: Duration,
            credentialLifetime: Duration, certificateFile: String? = nil,
            limits: FetchLimits = FetchLimits()
        ) {
            self.storeURL = storeURL
            self.clientURL = clientURL
            self.sessionPath = sessionPath
            self.timeout = timeout
            self.credentialLifetime = credentialLifetime
            self.certificateFile = certificateFile
            self.limits = limits
        }
    }

    public struct PollIntervals: Sendable {
        /// An event while its stream is opened would be missed.
        var first = Duration.seconds(1)
        var withoutEvents = Duration.seconds(3)
        var withEvents = Duration.seconds(30)
    }

    public typealias Credential = @Sendable () async throws(MailStoreError) -> String

    /// What requests are for. Each kind has connections and limits of its own.
    enum Purpose {
        case call, download, event
    }

    /// Sends a request for a client.
    /// - Throws: `OutboundError`, or `CancellationError`.
    typealias Send =
        @Sendable (Purpose, OutboundRequest, IPAddress) async throws -> FetchedResponse

    /// Bytes of a source or an attachment.
    static let downloadBytes = 32 << 20
    /// Bytes of a response to method calls, and of a session object.
    private static let responseBytes = 16 << 20
    private static let sessionBytes = 1 << 20
    /// An event source ends after its first event, which has a few hundred bytes.
    private static let eventBytes = 65_536

    let settings: Settings
    let accounts = AccountCache()
    private let send: Send
    private let report: @Sendable (String) -> Void
    /// Until then the store is not asked for events: it has said that it has none.
    private let noEvents = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter report: called with the cause when the store does not answer as it must.
    public convenience init(
        _ settings: Settings, report: @escaping @Sendable (String) -> Void
    ) {
        let origin = settings.storeURL
        let calls = PersistentFetcher(origin: origin, limits: settings.limits)
        // Each is in memory as a whole.
        let downloads = PersistentFetcher(
            origin: origin, limits: settings.limits.with(4, perClient: 1, perSite: 2))
        // Each has a connection, for which Cyrus IMAP needs a process. A wait without a place asks
        // at intervals.
        var limits = settings.limits.with(64, perClient: 8, perSite: 16)
        limits.waitingPerSlot = 0
        let events = PersistentFetcher(origin: origin, limits: limits)
        self.init(settings, report: report) { purpose, request, client in
            switch purpose {
            case .call: try await calls.send(request, for: client)
            case .download: try await downloads.send(request, for: client)
            case .event: try await events.send(request, for: client)
            }
        }
    }

    init(
        _ settings: Settings, report: @escaping @Sendable (String) -> Void, send: @escaping Send
    ) {
        self.settings = settings
        self.report = report
        self.send = send
    }

    /// The mail for requests of one client.
    /// - Parameter credential: the store accepts it for the account; called when one is needed.
    public func mail(for client: IPAddress, credential: @escaping Credential) -> RemoteMail {
        RemoteMail(store: self, client: client, credential: credential)
    }

    // MARK: Requests

    /// The account's session object, at most five minutes old.
    func session(
        of account: MailAccount, for client: IPAddress, _ credential: Credential
    ) async throws(StoreFailure) -> SessionObject {
        if let known = accounts.session(of: account.id, at: .now) { return known }
        let response = try await self.request(
            OutboundRequest(
                .get, settings.storeURL + settings.sessionPath,
                headers: [("Accept", "application/json")], timeout: settings.timeout,
                bodyLimit: Self.sessionBytes),
            of: account, for: client, credential, .call)
        try response.expect(200)
        let session = try await SessionObject.read(response.body, settings)
        accounts.keep(session, of: account.id, at: .now)
        return session
    }

    /// Makes method calls, and returns their responses.
    func call(
        _ methods: [MethodCall], of account: MailAccount, _ session: SessionObject,
        for client: IPAddress, _ credential: Credential
    ) async throws(StoreFailure) -> MethodResponses {
        let response = try await self.request(
            OutboundRequest(
                .post, session.apiURL,
                headers: [("Accept", "application/json"), ("Content-Type", "application/json")],
                body: MethodCall.request(methods, accountID: session.accountID),
                timeout: settings.timeout, bodyLimit: Self.responseBytes),
            of: account, for: client, credential, .call)
        try response.expect(200)
        let responses = try await MethodResponses.read(response.body)
        // It names another state when its session object has changed (RFC 8620 §3.4).
        if responses.sessionState != session.state { accounts.forgetSession(of: account.id) }
        return responses
    }

    /// Downloads a blob.
    func download(
        _ blobID: String, of account: MailAccount, _ session: SessionObject,
        for client: IPAddress, _ credential: Credential
    ) async throws(StoreFailure) -> [UInt8] {
        let response = try await self.request(
            OutboundRequest(
                .get, session.downloadURL(ofBlob: blobID), timeout: settings.timeout * 5,
                bodyLimit: Self.downloadBytes),
            of: account, for: client, credential, .download)
        if response.status == 404 { throw .notFound }
        try response.expect(200)
        return response.body
    }

    /// Returns at the first event about mail, and `false` where the store has no events now.
    func awaitEvent(
        of account: MailAccount, _ session: SessionObject, for client: IPAddress,
        _ credential: Credential,
        until deadline: ContinuousClock.Instant
    ) async -> Bool {
        if let end = noEvents.withLock({ $0 }), .now < end { return false }
        do throws(StoreFailure) {
            let response = try await self.request(
                OutboundRequest(
                    .get, session.eventURL, headers: [("Accept", "text/event-stream")],
                    timeout: max(.milliseconds(1), deadline - .now), bodyLimit: Self.eventBytes),
                of: account, for: client, credential, .event)
            if response.status == 200 {
                return response.body.contains(UInt8(ascii: ":"))
            }
            // It has none: Cyrus IMAP without WebSocket answers 204.
            if [204, 404, 501].contains(response.status) {
                noEvents.withLock { $0 = .now + .seconds(600) }
            }
            return false
        } catch {
            return false
        }
    }

    /// Sends a request with the account's credential. If the store rejects one that was used
    /// before, a new one is tried, because the key that signed it may have been retired.
    private func request(
        _ request: OutboundRequest, of account: MailAccount, for client: IPAddress,
        _ credential: Credential, _ purpose: Purpose
    ) async throws(StoreFailure) -> FetchedResponse {
        let known = accounts.credential(of: account.id, at: .now)
        if let known {
            let response = try await self.request(request, with: known, for: client, purpose)
            if response.status != 401 { return response }
        }
        let new: String
        do throws(MailStoreError) {
            new = try await credential()
        } catch {
            throw .own(error)
        }
        let response = try await self.request(request, with: new, for: client, purpose)
        guard response.status != 401 else {
            accounts.forget(account.id)
            throw .invalid("it rejects the capability (status 401)")
        }
        accounts.keep(credential: new, of: account.id, until: .now + settings.credentialLifetime)
        return response
    }

    private func request(
        _ request: OutboundRequest, with credential: String, for client: IPAddress,
        _ purpose: Purpose
    ) async throws(StoreFailure) -> FetchedResponse {
        var request = request
        request.headers.append(("Authorization", "Bearer \(credential)"))
        request.certificateFile = settings.certificateFile
        do {
            return try await send(purpose, request, client)
        } catch let error as OutboundError {
            switch error {
            case .invalidRequest, .tooLarge, .failed: throw .invalid("\(error)")
            case .unresolvable, .unreachable, .untrusted, .timedOut: throw .away("\(error)")
            case .busy: throw .busy
            }
        } catch {
            throw .cancelled
        }
    }

    // MARK: Failures

    /// Reports the cause, and says what the caller is told.
    func note(_ failure: StoreFailure) -> MailStoreError {
        switch failure {
        case .notFound, .noMailbox: return .notFound
        case .busy, .cancelled: return .unavailable(retryAfter: .seconds(2))
        case .away(let cause):
            report(cause)
            return .unavailable(retryAfter: .seconds(5))
        case .invalid(let cause):
            report(cause)
            return .invalidResponse
        case .own(let error): return error
        }
    }
}

/// Why the store did not do what it was asked.
enum StoreFailure: Error {
    case notFound
    /// The store has no mailbox of the account yet: Cyrus IMAP makes one for the first message.
    case noMailbox
    /// It cannot be reached, or does not answer in time.
    case away(String)
    /// It answered what it must not.
    case invalid(String)
    /// Too many requests wait for it.
    case busy
    case cancelled
    /// There was no credential to ask it with.
    case own(MailStoreError)
}

extension FetchLimits {
    /// With other numbers of requests at once; clients have no shares where they had none.
    fileprivate func with(_ perTarget: Int, perClient: Int, perSite: Int) -> FetchLimits {
        var limits = self
        limits.perTarget = perTarget
        if limits.perClient < .max { limits.perClient = perClient }
        if limits.perSite < .max { limits.perSite = perSite }
        return limits
    }
}

extension FetchedResponse {
    fileprivate func expect(_ wanted: Int) throws(StoreFailure) {
        switch status {
        case wanted: break
        // A proxy whose server is away, and a server that is busy.
        case 429, 502, 503, 504: throw .away("its response has status \(status)")
        default: throw .invalid("its response has status \(status)")
        }
    }
}
