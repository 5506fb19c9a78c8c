public import AuthCore
public import Networking
internal import Synchronization

/// Keeps the mail to users until a test asks for it.
public final class RecordingMailer: UserMailer {
    private struct Waiting {
        let client: IPAddress?
        let prepare: @Sendable () async throws -> UserMail?
    }

    private struct State {
        var waiting: [Waiting] = []
        var isFull = false
    }

    private let state = Mutex(State())

    public init() {}

    /// Whether further messages are rejected.
    public var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// The clients that have caused the messages that wait.
    public var clients: [IPAddress?] { state.withLock { $0.waiting.map(\.client) } }

    public func send(
        for client: IPAddress?, _ prepare: @escaping @Sendable () async throws -> UserMail?
    ) -> Bool {
        state.withLock { state in
            guard !state.isFull else { return false }
            state.waiting.append(Waiting(client: client, prepare: prepare))
            return true
        }
    }

    /// Makes the messages that wait, in order.
    public func take() async throws -> [UserMail] {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        var mails: [UserMail] = []
        for each in waiting {
            if let mail = try await each.prepare() { mails.append(mail) }
        }
        return mails
    }

    /// The tokens of the links in the messages that wait.
    public func takeTokens() async throws -> [String] {
        try await take().compactMap { mail in
            switch mail.content {
            case .emailVerification(let token): token.url(for: .emailVerification, on: "")
            case .passwordReset(let token): token.url(for: .passwordReset, on: "")
            case .notice: nil
            }
        }.compactMap { $0.split(separator: "#").last.map(String.init) }
    }

    /// The notices that wait.
    public func takeNotices() async throws -> [UserNotice] {
        try await take().compactMap { mail in
            if case .notice(let notice, _) = mail.content { notice } else { nil }
        }
    }
}
