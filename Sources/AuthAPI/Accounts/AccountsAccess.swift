internal import AuthCore
internal import HTTPEngine

/// Who may use an endpoint of the accounts API, and the principal that its handler gets.
struct AccountsAccess: Sendable {
    typealias Access<Principal: Sendable> = Authentication<Principal, AccountsError>

    let authenticator: Authenticator
    let mailboxes: Mailboxes

    /// Every caller. The handler decides when an invalid token is reported.
    var anybody: Access<Result<Principal?, AccountsError>> {
        Authentication { request, caller in
            let result = await principal(of: request.presentedToken, at: caller.now)
            return .init(limit: result.rateClass) { () async throws(AccountsError) in result }
        }
    }

    /// An account or a user that may act on the mailbox that the path names.
    var mailbox: Access<Mailboxes.Access> {
        Authentication { request, caller in
            let result = await principal(of: request.presentedToken, at: caller.now)
            return .init(limit: result.rateClass) { () async throws(AccountsError) in
                guard let principal = try result.get() else { throw .missingToken }
                return try await mailboxes.access(to: request.mailboxReference, as: principal)
            }
        }
    }

    /// A Pro user, by token or by session cookie.
    var user: Access<User> {
        Authentication { request, caller in
            let (token, isCookie) = request.userToken
            let result = await principal(of: token, at: caller.now)
            return .init(limit: result.rateClass) { () async throws(AccountsError) in
                try user(result, of: request, isCookie: isCookie)
            }
        }
    }

    /// A Pro user who owns the mailbox that the path names.
    var ownedMailbox: Access<Mailboxes.Access> {
        Authentication { request, caller in
            let (token, isCookie) = request.userToken
            let result = await principal(of: token, at: caller.now)
            return .init(limit: result.rateClass) { () async throws(AccountsError) in
                let user = try user(result, of: request, isCookie: isCookie)
                return try await mailboxes.access(
                    to: request.mailboxReference, as: .user(user))
            }
        }
    }

    private func principal(
        of token: String?, at now: Instant
    ) async -> Result<Principal?, AccountsError> {
        do {
            return .success(try await authenticator.principal(of: token, at: now))
        } catch {
            return .failure(error)
        }
    }

    private func user(
        _ result: Result<Principal?, AccountsError>, of request: Request, isCookie: Bool
    ) throws(AccountsError) -> User {
        // The browser sends the cookie whichever page caused the request.
        if isCookie, request.isCrossOriginWrite { throw .forbidden }
        switch try result.get() {
        case nil: throw .missingToken
        case .account: throw .forbidden
        case .user(let user): return user
        }
    }
}

extension Result where Success == Principal?, Failure == AccountsError {
    /// The class that the request is limited with: users have a bucket of their own.
    fileprivate var rateClass: RateLimiter.Class {
        if case .success(.user) = self { .pro } else { .general }
    }
}

extension Request {
    /// The mailbox that the path names; `nil` for a text that names none.
    fileprivate var mailboxReference: Mailboxes.Reference? {
        parameters["account_id"].flatMap(Mailboxes.Reference.init)
    }
}
