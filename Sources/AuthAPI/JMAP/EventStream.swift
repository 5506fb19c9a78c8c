internal import HTTPEngine
internal import LocalMail
internal import Scheduling
internal import StrictJSON
internal import Synchronization

/// What a client asks of its event source (RFC 8620 §7.3).
struct EventWishes: Sendable {
    /// Seconds between two pings, so that a client neither waits for hours nor makes work.
    static let pingSeconds = 5...900

    /// `nil` for all.
    let types: Set<String>?
    let closesAfterState: Bool
    /// Of one ping to the next, within ``pingSeconds``; `nil` for none.
    let pingSeconds: Int?
    /// The id of the last event that the client got before.
    let lastEventID: String?

    init(_ request: Request) throws(JMAPError) {
        let query = QueryFields<JMAPError>(request)
        let types = try query.text("types") ?? "*"
        self.types =
            types == "*"
            ? nil
            : Set(types.utf8.split(separator: UInt8(ascii: ",")).map { String(Substring($0)) })
        switch try query.text("closeafter") ?? "no" {
        case "state": closesAfterState = true
        case "no": closesAfterState = false
        default: throw .malformed("`closeafter` must be `state` or `no`.")
        }
        let seconds = try query.number("ping", in: 0...Int(Int32.max), default: 0)
        pingSeconds =
            seconds == 0
            ? nil : min(max(seconds, Self.pingSeconds.lowerBound), Self.pingSeconds.upperBound)
        lastEventID = request.headers.first("last-event-id")
    }

    func includes(_ type: MailType) -> Bool { types?.contains(type.rawValue) ?? true }
}

/// The events of one client: changes of states, and pings while there are none.
///
/// It ends after an hour, when the account is removed, or when the client goes away.
final class EventStream: Sendable {
    typealias Wait = @Sendable (ContinuousClock.Instant) async throws -> Void

    /// The first bytes, a comment: they tell the client that the events begin.
    static let beginning = Array(": events of this account\n\n".utf8)
    static let lifetime = Duration.seconds(3600)

    private let wishes: EventWishes
    private let accountID: String
    private let changes: StateChanges
    private let initial: MailStates
    private let wait: Wait
    private let lastEvent: Mutex<ContinuousClock.Instant>

    /// - Parameter wait: until a time. It ends early when its task is cancelled.
    init(
        of mail: AccountMail, _ wishes: EventWishes,
        wait: @escaping Wait = { try await Task.sleep(until: $0, clock: .continuous) }
    ) {
        self.wishes = wishes
        accountID = mail.account.id
        initial = mail.states
        changes = mail.stateChanges()
        self.wait = wait
        lastEvent = Mutex(.now)
    }

    /// - Parameter place: held until the stream ends.
    func open(holding place: some Sendable) -> AsyncStream<[UInt8]> {
        let (stream, pieces) = AsyncStream.makeStream(of: [UInt8].self)
        let task = Task {
            await self.run(pieces)
            pieces.finish()
            withExtendedLifetime(place) {}
        }
        pieces.onTermination = { _ in task.cancel() }
        return stream
    }

    private func run(_ pieces: AsyncStream<[UInt8]>.Continuation) async {
        let end = ContinuousClock.now + Self.lifetime
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.sendChanges(to: pieces) }
            if let seconds = wishes.pingSeconds {
                group.addTask { await self.sendPings(every: seconds, to: pieces) }
            }
            group.addTask { await self.isWaited(until: end) }
            await group.next()
            group.cancelAll()
        }
    }

    private func sendChanges(to pieces: AsyncStream<[UInt8]>.Continuation) async {
        var changes = changes
        var last = initial
        if let id = wishes.lastEventID {
            let missed = EventID.changes(since: id, to: last).filter(wishes.includes)
            if send(missed, last, to: pieces) { return }
        }
        while let states = await changes.next() {
            let changed = states.changes(since: last).filter(wishes.includes)
            last = states
            if send(changed, states, to: pieces) { return }
        }
    }

    /// - Returns: whether the stream ends with this event.
    private func send(
        _ types: [MailType], _ states: MailStates, to pieces: AsyncStream<[UInt8]>.Continuation
    ) -> Bool {
        if types.isEmpty { return false }
        let data = JSONWriter.object { body in
            body.member("@type", "StateChange")
            body.member("changed") { changed in
                changed.member(accountID) { account in
                    for type in types { account.member(type.rawValue, states[type]) }
                }
            }
        }
        let id = EventID.text(of: states)
        lastEvent.withLock { $0 = .now }
        pieces.yield(Array("event: state\nid: \(id)\ndata: ".utf8) + data + Array("\n\n".utf8))
        return wishes.closesAfterState
    }

    private func sendPings(
        every seconds: Int, to pieces: AsyncStream<[UInt8]>.Continuation
    ) async {
        let ping = Array("event: ping\ndata: {\"interval\":\(seconds)}\n\n".utf8)
        while true {
            let next = lastEvent.withLock { $0 } + .seconds(seconds)
            guard await isWaited(until: next) else { return }
            // After an event a whole interval begins.
            guard lastEvent.withLock({ $0 + .seconds(seconds) }) <= next else { continue }
            lastEvent.withLock { $0 = next }
            pieces.yield(ping)
        }
    }

    /// - Returns: `false` when the task was cancelled.
    @discardableResult
    private func isWaited(until time: ContinuousClock.Instant) async -> Bool {
        do {
            try await wait(time)
            return true
        } catch {
            return false
        }
    }
}

/// The id of an event: the states of all types.
private enum EventID {
    static func text(of states: MailStates) -> String {
        MailType.allCases.map { states[$0] }.joined(separator: ",")
    }

    /// The types whose states are others than in the id: all where it is none of this account.
    static func changes(since id: String, to states: MailStates) -> [MailType] {
        let earlier = id.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        guard earlier.count == MailType.allCases.count else { return MailType.allCases }
        return zip(MailType.allCases, earlier).filter { states[$0] != $1 }.map(\.0)
    }
}
