public import Networking

/// The name that a client logs in with, whether anything has it or not.
///
/// A user's email may be the address of another person's mailbox, so names of different kinds are
/// different even when their texts are equal.
public enum LoginName: Hashable, Sendable {
    case mailbox(Address)
    case user(Email)
    /// A user who shows a second factor. Counted apart from the password, so that the right
    /// password does not clear the failures of the second factor.
    case secondFactor(Email)
    /// The owner of a passkey; `nil` for one that is not known.
    case passkey(Email?)
    /// Somebody whom an identity provider names. Before it has, nobody knows whose login it is, so
    /// that failures are counted by provider and client: those of others make no one wait.
    case provider(String, IPBlock)
    /// `nil` where the client sent no valid email.
    case hashLogin(Email?)

    /// The subject of audit events.
    public var subject: String {
        switch self {
        case .mailbox(let address): address.description
        case .user(let email), .secondFactor(let email): email.text
        case .hashLogin(let email), .passkey(let email): email?.text ?? "no email"
        case .provider(let name, _): "provider \(name)"
        }
    }

    /// How the actor of this name's successful logins begins, in its stored form.
    public var actorPrefix: String {
        switch self {
        case .mailbox: "account:"
        case .user, .secondFactor, .passkey, .provider: "user:"
        case .hashLogin: subject
        }
    }

    /// Different for different names: no address begins with a text and a colon.
    var key: String {
        switch self {
        case .mailbox: subject
        case .user: "user:\(subject)"
        case .secondFactor: "second-factor:\(subject)"
        case .provider(let name, let client): "provider:\(name):\(client)"
        case .passkey(let email): "passkey:\(email?.text ?? "")"
        case .hashLogin(let email): "hash-login:\(email?.text ?? "")"
        }
    }
}
