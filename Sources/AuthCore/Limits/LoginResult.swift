/// A kind of login and how one ended, for metrics.
public struct LoginResult: CaseIterable, Hashable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// By API key, at the agent API.
        case agent
        /// Of a mailbox with a password; also an agent's mailbox at a mail store.
        case mailbox
        case user
        case secondFactor = "second_factor"
        case passkey
        case provider
        case hashLogin = "hash_login"

        init(_ name: LoginName) {
            switch name {
            case .mailbox: self = .mailbox
            case .user: self = .user
            case .secondFactor: self = .secondFactor
            case .passkey: self = .passkey
            case .provider: self = .provider
            case .hashLogin: self = .hashLogin
            }
        }
    }

    public enum End: String, CaseIterable, Sendable {
        case succeeded, failed
        /// The secret was not verified, because the server was busy or has a fault.
        case unchecked
        /// It came before the wait after earlier failures was over.
        case throttled

        init(_ outcome: LoginThrottle.Outcome) {
            switch outcome {
            case .succeeded: self = .succeeded
            case .failed: self = .failed
            case .unchecked: self = .unchecked
            }
        }
    }

    public let kind: Kind
    public let end: End

    public static let allCases = Kind.allCases.flatMap { kind in
        End.allCases.map { LoginResult(kind: kind, end: $0) }
    }
}
