internal import AuthCore
public import FoundationEssentials

/// A mailbox that is opened with an API key.
public struct Agent: Sendable {
    public let id: String
    public let address: String
    public let apiKey: String
    /// A session JWT.
    public let token: String
    public let expiry: Date

    init(_ made: TestFixtures.MadeAccount, apiKey: String) {
        id = made.account.id.text
        address = made.account.address.description
        self.apiKey = apiKey
        token = made.token
        expiry = Date(made.expiry)
    }
}

/// A mailbox that is opened with a password.
public struct MailAccount: Sendable {
    public let id: String
    public let address: String
    public let password: String
    /// An Email JWT.
    public let token: String
    public let expiry: Date

    init(_ made: TestFixtures.MadeAccount, password: String) {
        id = made.account.id.text
        address = made.account.address.description
        self.password = password
        token = made.token
        expiry = Date(made.expiry)
    }
}

/// A Pro user.
public struct ProUser: Sendable {
    public let id: String
    public let email: String
    public let password: String
    /// A Pro JWT.
    public let token: String
    public let expiry: Date

    init(_ made: TestFixtures.MadeUser) {
        id = made.user.id.text
        email = made.user.email.text
        password = made.password
        token = made.token
        expiry = Date(made.expiry)
    }
}

public struct Token: Sendable {
    public let text: String
    /// `nil` for an API token that does not expire.
    public let expiry: Date?
    /// Of an API token.
    public let id: String?

    init(_ made: TestFixtures.MadeToken) {
        text = made.text
        expiry = made.expiry.map { Date($0) }
        id = made.id?.text
    }
}

/// An entry of the server's record of credential events.
public struct Event: Sendable {
    public let number: Int64
    public let time: Date
    /// Such as `account_created`.
    public let kind: String
    public let actor: String
    public let subject: String
    public let client: String
    public let requestID: String
    /// How many events it stands for.
    public let count: Int64

    init(_ record: AuditRecord) {
        number = record.sequence
        time = Date(record.event.time)
        kind = record.event.kind.rawValue
        actor = record.event.actor.description
        subject = record.event.subject
        client = record.event.client
        requestID = record.event.requestID
        count = record.count
    }
}

/// The response to a request, whatever its status.
public struct HTTPResponse: Sendable {
    public let status: Int
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    public var text: String { String(decoding: body, as: UTF8.self) }
}
