internal import Synchronization

/// What is known about accounts of the store from earlier requests. All of it can be found again,
/// but for ``positions``, which a deleted message had.
final class AccountCache: Sendable {
    private struct Entry {
        var credential: (text: String, end: ContinuousClock.Instant)?
        var session: (object: SessionObject, end: ContinuousClock.Instant)?
        var unlisted: [String]?
        /// The newest last.
        var positions: [(message: String, state: String)] = []
    }

    private static let capacity = 4096
    private static let maxPositions = 32
    private static let sessionLifetime = Duration.seconds(300)

    private let entries = Mutex<[String: Entry]>([:])

    func credential(of account: String, at now: ContinuousClock.Instant) -> String? {
        entries.withLock { entries in
            entries[account]?.credential.flatMap { now < $0.end ? $0.text : nil }
        }
    }

    func keep(credential: String, of account: String, until end: ContinuousClock.Instant) {
        change(account) { $0.credential = (credential, end) }
    }

    func session(of account: String, at now: ContinuousClock.Instant) -> SessionObject? {
        entries.withLock { entries in
            entries[account]?.session.flatMap { now < $0.end ? $0.object : nil }
        }
    }

    func keep(_ session: SessionObject, of account: String, at now: ContinuousClock.Instant) {
        change(account) { $0.session = (session, now + Self.sessionLifetime) }
    }

    func forgetSession(of account: String) { change(account) { $0.session = nil } }

    /// The ids of the folders whose messages are not listed; `nil` when they are not known.
    func unlisted(of account: String) -> [String]? {
        entries.withLock { $0[account]?.unlisted }
    }

    func keep(unlisted ids: [String], of account: String) {
        change(account) { $0.unlisted = ids }
    }

    /// The state of the account's mail when the message was the newest of it.
    func state(after message: String, of account: String) -> String? {
        entries.withLock { entries in
            entries[account]?.positions.last { $0.message == message }?.state
        }
    }

    func keep(state: String, after message: String, of account: String) {
        change(account) { entry in
            entry.positions.removeAll { $0.message == message }
            entry.positions.append((message, state))
            if entry.positions.count > Self.maxPositions { entry.positions.removeFirst() }
        }
    }

    func forget(_ account: String) { entries.withLock { $0[account] = nil } }

    private func change(_ account: String, _ change: (inout Entry) -> Void) {
        entries.withLock { entries in
            if entries[account] == nil, entries.count >= Self.capacity { entries = [:] }
            change(&entries[account, default: Entry()])
        }
    }
}
