public import AuthCore
public import Fetching
public import Networking
public import Scheduling
internal import Synchronization

/// Sends messages to users by a relay, from a queue in memory.
///
/// Guarantees: ``send(for:_:)`` does not wait. A message is tried again after the pauses of
/// ``Settings/pauses`` unless the relay rejects it for good, and is given up after the last of
/// them. At most ``Settings/width`` are sent at once, and a fixed number wait; clients take turns,
/// and none holds more than its share. What waits when the process ends is lost.
public final class MailQueue: UserMailer {
    public struct Settings: Sendable {
        /// Messages that are sent at once.
        public var width = 4
        /// Messages that may wait beyond those, the ones between two attempts included.
        public var depth = 256
        /// Between the attempts for one message.
        public var pauses: [Duration] = [5, 30, 120, 300, 450].map { .seconds($0) }
        public var sender: MailAddress
        /// How messages call the server.
        public var serverName: String
        /// The URL that clients use for this server.
        public var publicURL: String
        public var shares: WorkerPool.Shares

        public init(
            sender: MailAddress, serverName: String, publicURL: String,
            shares: WorkerPool.Shares = .ofQueue
        ) {
            self.sender = sender
            self.serverName = serverName
            self.publicURL = publicURL
            self.shares = shares
        }
    }

    /// What becomes of a message.
    public enum Result: String, CaseIterable, Sendable {
        /// The relay has taken it.
        case sent
        /// An attempt has failed, and another one follows.
        case deferred
        /// The relay has rejected it for good, or the last attempt has failed.
        case failed
        /// There was no place in the queue.
        case dropped
    }

    public enum Report: Sendable {
        /// The first failed attempt after a success.
        case unavailable(cause: String)
        /// The first success after a failed attempt.
        case availableAgain
        /// A message was given up.
        case failed(user: UserID, cause: String, attempts: Int)
        /// A message could not be made: a fault of the store.
        case unprepared(any Error)
    }

    private struct State {
        var tasks: [UInt64: Task<Void, Never>] = [:]
        var lastID: UInt64 = 0
        var isAvailable = true
        var isStopped = false
    }

    public let results = Counters<Result>()
    private let settings: Settings
    private let pool: WorkerPool
    private let deliver: @Sendable (OutboundMail) async throws -> Void
    private let report: @Sendable (Report) -> Void
    private let sleep: @Sendable (Duration) async throws -> Void
    private let random: @Sendable (Int) -> [UInt8]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - deliver: gives a message to the relay. Throws `RelayError`.
    ///   - random: returns that many random bytes.
    public init(
        _ settings: Settings, deliver: @escaping @Sendable (OutboundMail) async throws -> Void,
        report: @escaping @Sendable (Report) -> Void,
        random: @escaping @Sendable (Int) -> [UInt8],
        sleep: @escaping @Sendable (Duration) async throws -> Void = {
            try await Task.sleep(for: $0)
        }
    ) {
        self.settings = settings
        self.deliver = deliver
        self.report = report
        self.random = random
        self.sleep = sleep
        pool = WorkerPool(
            name: "mailer", lanes: settings.width, depth: settings.depth, shares: settings.shares)
    }

    public var statistics: WorkerPool.Statistics { pool.statistics }

    public func send(
        for client: IPAddress?, _ prepare: @escaping @Sendable () async throws -> UserMail?
    ) -> Bool {
        let place: HeldPlace
        do throws(WorkerPool.Full) {
            place = HeldPlace(try pool.reserve(for: client))
        } catch {
            results.add(.dropped)
            return false
        }
        // The lock is held until the task is stored, so that it cannot end before.
        state.withLock { state in
            guard !state.isStopped else { return }
            state.lastID += 1
            let id = state.lastID
            state.tasks[id] = Task.detached { [self] in
                await run(prepare, in: place)
                self.state.withLock { $0.tasks[id] = nil }
            }
        }
        return true
    }

    /// Ends everything that waits or is being sent, and takes nothing more.
    public func stop() {
        let tasks = state.withLock { state in
            state.isStopped = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
    }

    /// Returns once every message that was taken before has been sent or given up.
    public func finish() async {
        let tasks = state.withLock { Array($0.tasks.values) }
        for task in tasks { await task.value }
    }

    private func run(
        _ prepare: @Sendable () async throws -> UserMail?, in place: HeldPlace
    ) async {
        let mail: UserMail
        do {
            guard let made = try await prepare() else { return }
            mail = made
        } catch is RateLimited {
            return results.add(.dropped)
        } catch {
            if !(error is CancellationError) { report(.unprepared(error)) }
            return results.add(.failed)
        }
        await deliver(mail, in: place)
    }

    private func deliver(_ mail: UserMail, in place: HeldPlace) async {
        let message = OutboundMail(
            sender: settings.sender.email.text, recipient: mail.recipient.text,
            bytes: MailMessage(
                sender: settings.sender, recipient: mail.recipient,
                text: MailText(
                    mail, serverName: settings.serverName, publicURL: settings.publicURL),
                id: newID(), time: mail.time
            ).bytes)
        for attempt in 0... {
            do {
                try await place.place.withLane { _ in try await deliver(message) }
                results.add(.sent)
                return note(isAvailable: true)
            } catch is CancellationError {
                return results.add(.failed)
            } catch {
                let isPermanent = (error as? RelayError)?.isPermanent ?? false
                if !isPermanent { note(isAvailable: false, cause: "\(error)") }
                guard !isPermanent, attempt < settings.pauses.count else {
                    results.add(.failed)
                    return report(
                        .failed(user: mail.user, cause: "\(error)", attempts: attempt + 1))
                }
                results.add(.deferred)
            }
            guard (try? await sleep(settings.pauses[attempt])) != nil else {
                return results.add(.failed)
            }
        }
    }

    private func note(isAvailable: Bool, cause: String = "") {
        let hasChanged = state.withLock { state in
            defer { state.isAvailable = isAvailable }
            return state.isAvailable != isAvailable
        }
        if hasChanged { report(isAvailable ? .availableAgain : .unavailable(cause: cause)) }
    }

    private func newID() -> String {
        random(16).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}

/// A place in the queue, which a task keeps between its attempts.
private final class HeldPlace: Sendable {
    let place: WorkerPool.Place

    init(_ place: consuming WorkerPool.Place) {
        self.place = place
    }
}
