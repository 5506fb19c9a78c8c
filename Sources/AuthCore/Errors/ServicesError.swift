/// Why a request of a mail store or a proxy fails, or one of the end user that it asks about.
public enum ServicesError: FlowError {
    /// The service itself has not sent the secret that services need.
    case wrongSecret
    /// A page in a browser has sent the request of a service.
    case fromPage
    /// There is no credential of an end user where one is needed.
    case missingToken
    /// The end user's token is forged or expired, or its account is deleted or disabled.
    case invalidToken
    /// There is no account with this address, or the password is wrong.
    case invalidCredentials
    /// The password is right, and the operator has disabled the account.
    case disabled
    /// The mail store knows mailboxes by their local part, and the account is not on the domain
    /// `first`, the only one on which local parts name one mailbox each.
    case subjectNotUnique(first: String)
    case common(CommonError)

    public var isRejectedToken: Bool {
        switch self {
        case .wrongSecret, .invalidToken: true
        default: false
        }
    }

    public var common: CommonError? {
        if case .common(let error) = self { error } else { nil }
    }

    /// The error for a rejected password.
    init(_ error: AccountsError) {
        self = error.common.map(Self.common) ?? .invalidCredentials
    }
}
