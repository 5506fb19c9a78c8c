/// Why a request to the hash-login API fails.
public enum HashLoginError: FlowError {
    case blankEmail
    case invalidEmail
    case emailTaken
    case blankPassword
    /// Not a URL, or its text already shows that it may not be fetched.
    case invalidHashURL
    /// The hash could not be fetched, whatever the cause. The log has the cause.
    case hashUnreachable
    /// The response is not exactly one Argon2 string within the bounds.
    case notAnArgon2Hash
    case hashMismatch
    /// The email and the password do not belong together, or could not be checked in time.
    case loginFailed
    case invalidToken
    /// A logout came with neither a valid token nor a correct password.
    case logoutFailed
    /// A page of another site sent the form.
    case foreignForm
    case common(CommonError)

    public var common: CommonError? {
        if case .common(let error) = self { error } else { nil }
    }
}
