internal import AuthCore
internal import HTTPEngine
public import Networking
internal import Synchronization

/// The session objects of the mail store, fetched for the clients that ask this server.
///
/// Guarantees: an object is fetched once for all clients that ask for the same mailbox within the
/// lifetime. A failure is returned only to clients that are already waiting. The limits of time and
/// bytes are those of ``Fetch``.
public final class StoreSessions: Sendable {
    /// Fetches the body that the mail store's session URL serves.
    /// - Throws: ``AuthCore/CommonError/busy(retryAfter:)`` when too many fetches are waiting. If
    ///   there is no body with status 200, any other error, which is reported.
    public typealias Fetch =
        @Sendable (_ token: String, _ client: IPAddress) async throws -> [UInt8]

    private struct Entry {
        let begun: ContinuousClock.Instant
        let task: Task<Result<[UInt8], AgentError>, Never>
    }

    /// An object has a few KiB, and at most what ``Fetch`` accepts.
    private static let capacity = 512

    private let urls: StoreURLs
    private let lifetime: Duration
    let sendsStoreToken: Bool
    private let fetch: Fetch
    private let report: @Sendable (String) -> Void
    private let entries = Mutex<[String: Entry]>([:])

    /// - Parameters:
    ///   - storeURL: the store as this server reaches it, without a slash at the end.
    ///   - clientURL: the same as clients reach it.
    ///   - lifetime: how long an object is kept.
    ///   - sendsStoreToken: whether the store gets a minimal capability instead of the client's
    ///     own, as from a proxy that asks `/forward-auth`.
    ///   - report: called with the cause when there is no object. Clients do not see it.
    public init(
        storeURL: String, clientURL: String, lifetime: Duration, sendsStoreToken: Bool,
        fetch: @escaping Fetch, report: @escaping @Sendable (String) -> Void
    ) {
        urls = StoreURLs(store: storeURL, clients: clientURL)
        self.lifetime = lifetime
        self.sendsStoreToken = sendsStoreToken
        self.fetch = fetch
        self.report = report
    }

    /// - Parameters:
    ///   - subject: the name by which the store knows the mailbox.
    ///   - token: the store accepts it for that mailbox; used when an object has to be fetched.
    /// - Throws: ``AuthCore/AgentError/mailStoreUnavailable``.
    func session(
        of subject: String, by caller: Caller,
        token: @escaping @Sendable () async throws(AgentError) -> String
    ) async throws(AgentError) -> Response {
        let now = caller.arrival
        let task = entries.withLock { entries in
            if let entry = entries[subject], now - entry.begun < lifetime { return entry.task }
            if entries.count >= Self.capacity {
                entries = entries.filter { now - $0.value.begun < lifetime }
                if entries.count >= Self.capacity { entries = [:] }
            }
            let task = Task { await self.load(subject, begun: now, by: caller, token) }
            entries[subject] = Entry(begun: now, task: task)
            return task
        }
        let body = try await task.value.get()
        return Response(
            status: .ok,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: body)
    }

    private func load(
        _ subject: String, begun: ContinuousClock.Instant, by caller: Caller,
        _ token: @Sendable () async throws(AgentError) -> String
    ) async -> Result<[UInt8], AgentError> {
        do throws(AgentError) {
            let token = try await token()
            let session = try await usableSession(with: token, for: caller.address)
            // The mailbox may be created at any moment, and its owner waits for that.
            if !session.hasMail { forget(subject, begun: begun) }
            return .success(session.body)
        } catch {
            forget(subject, begun: begun)
            return .failure(error)
        }
    }

    private func usableSession(
        with token: String, for client: IPAddress
    ) async throws(AgentError) -> StoreSession {
        do {
            return try StoreSession(try await fetch(token, client), urls: urls)
        } catch let error as CommonError {
            throw .common(error)
        } catch {
            report("\(error)")
            throw .mailStoreUnavailable
        }
    }

    private func forget(_ subject: String, begun: ContinuousClock.Instant) {
        entries.withLock { entries in
            if entries[subject]?.begun == begun { entries[subject] = nil }
        }
    }
}
