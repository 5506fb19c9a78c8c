internal import AuthCore
internal import HTTPEngine

/// The errors of signing in with an identity provider, as pages for people and as JSON for
/// programs.
struct ProviderPages: Sendable {
    private let errors: AccountsErrors
    private let layout: PageLayout

    init(errors: AccountsErrors, publicURL: String) {
        self.errors = errors
        layout = PageLayout(publicURL: publicURL)
    }

    func response(_ error: AccountsError, to request: Request) -> Response {
        guard request.headers.responseFormat == .html else { return errors.response(error) }
        let coded = CodedError(error)
        var response = layout.page(
            coded.status, title: "Not logged in", at: (.dashboard, .section),
            main: """
                <h1>Not logged in</h1>
                <p class="failed" role="alert">\(coded.message)</p>
                \(Self.advice(error))
                <p><a href="/dashboard">Back to the login</a></p>
                <p class="quiet">For the operator of this server: <code>\(coded.code)</code></p>
                """)
        response.addErrorFields(retryAfter: coded.retryAfter)
        return response
    }

    private static func advice(_ error: AccountsError) -> HTMLText {
        switch error {
        case .linkRequired:
            """
            <p>Log in as you did before, with your password, your passkey or another provider. Then
            link this provider under <strong>Sign-in and security</strong>. After that, it logs you
            in, too.</p>
            """
        case .emailNotVerified:
            "<p>Have your email verified there, then log in again.</p>"
        case .identityExists:
            "<p>Unlink the other one under <strong>Sign-in and security</strong> first.</p>"
        default: ""
        }
    }
}
