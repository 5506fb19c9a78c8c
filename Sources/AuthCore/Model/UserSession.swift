public typealias UserSessionID = Identifier<UserSession>

/// One login of a Pro user: where and how it was made, and when it was last used.
///
/// A Pro JWT is valid only while the session that its `jti` names is stored.
public struct UserSession: Equatable, Sendable {
    /// The credential that a user logged in with.
    public enum Method: Equatable, Sendable {
        case password
        case passkey
        /// No earlier credential: the user has just been added.
        case registration
        /// An identity provider, by the name that the operator gave it.
        case provider(String)

        private static let providerPrefix = "provider:"

        /// The stored form, which clients see, too.
        public var text: String {
            switch self {
            case .password: "password"
            case .passkey: "passkey"
            case .registration: "registration"
            case .provider(let name): Self.providerPrefix + name
            }
        }

        /// - Returns: `nil` for a text that ``text`` does not give.
        public init?(_ text: String) {
            switch text {
            case "password": self = .password
            case "passkey": self = .passkey
            case "registration": self = .registration
            default:
                guard text.utf8.starts(with: Self.providerPrefix.utf8) else { return nil }
                self = .provider(
                    String(Substring(text.utf8.dropFirst(Self.providerPrefix.utf8.count))))
            }
        }
    }

    /// How long after a login the user may add and remove credentials.
    public static let recentLogin: Duration = .seconds(600)
    public static let maximumAgentBytes = 200

    /// The `jti` of the Pro JWT. It may be shown to the user: without the signature it gives access
    /// to nothing.
    public let id: UserSessionID
    public let owner: UserID
    public let method: Method
    /// The client at the login as limits count it: an IPv4 address or an IPv6 /64.
    public let client: String
    /// What the client said of itself: at most ``maximumAgentBytes`` of printable ASCII.
    public let agent: String
    public let created: Instant
    /// Written at most once a minute.
    public var lastUsed: Instant
    /// That of the Pro JWT.
    public let expiry: Instant
    /// When the user last logged in with a credential.
    public var authenticated: Instant

    public init(
        id: UserSessionID, owner: UserID, method: Method, client: String, agent: String,
        created: Instant, lastUsed: Instant, expiry: Instant, authenticated: Instant
    ) {
        self.id = id
        self.owner = owner
        self.method = method
        self.client = client
        self.agent = agent
        self.created = created
        self.lastUsed = lastUsed
        self.expiry = expiry
        self.authenticated = authenticated
    }

    /// For what only the user may do, and not somebody at a browser that the user has left: adding
    /// and removing credentials.
    /// - Throws: ``AccountsError/recentLoginRequired`` if the login is ``recentLogin`` ago.
    public func requireRecentLogin(at now: Instant) throws(AccountsError) {
        guard now < authenticated.advanced(by: Self.recentLogin) else {
            throw .recentLoginRequired
        }
    }

    /// The printable ASCII characters of a `User-Agent` field, at most ``maximumAgentBytes``.
    static func printable(agent: String) -> String {
        let bytes = agent.utf8.lazy.filter { (0x20...0x7e).contains($0) }
        return String(decoding: Array(bytes.prefix(maximumAgentBytes)), as: UTF8.self)
    }
}
