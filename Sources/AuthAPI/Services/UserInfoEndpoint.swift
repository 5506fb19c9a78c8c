internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// `/userinfo` (OpenID Connect Core §5.3): whose mailbox a token opens.
struct UserInfoEndpoint: Sendable {
    let services: MailServices
    /// The secret is that of the service; the token is the end user's.
    let authentication: Authentication<Void, ServicesError>
    let pipeline: Pipeline<ServicesError>

    var route: Route {
        pipeline.route(.get, "/userinfo", authentication) { request throws(ServicesError) in
            let mailbox = try await services.mailbox(
                of: request.http.presentedToken, at: request.caller.now)
            return .json(.ok) { body in
                body.member("sub", mailbox.name)
                body.member("email", mailbox.account.address.description)
                body.member("email_verified", true)
                body.member("preferred_username", mailbox.name)
            }
        }
    }
}
