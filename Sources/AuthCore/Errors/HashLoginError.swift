/// Why a request to the hash-login API fails.
public enum HashLoginError: FlowError {
    case blankEmail
    case invalidEmail
    case emailTaken
    case blankPassword
    /// Not a URL, or one that is never fetched: its text is enough to reject it.
    case invalidHashURL
    /// The hash could not be fetched, whatever the cause. The log has the cause.
    case hashUnreachable
    /// The response is not exactly one Argon2 string within the bounds.
    case notAnArgon2Hash
    case hashMismatch
    /// The email is not registered, the password is wrong, or it could not be verified in time.
    case loginFailed
    case invalidToken
    /// A logout came with neither a valid token nor a correct password.
    case logoutFailed
    /// A page of another site sent the form.
    case foreignForm
    /// A page under another host name than the server's.
    case foreignHost
    case common(CommonError)

    public var isRejectedToken: Bool { if case .invalidToken = self { true } else { false } }

    public var common: CommonError? {
        if case .common(let error) = self { error } else { nil }
    }
}
