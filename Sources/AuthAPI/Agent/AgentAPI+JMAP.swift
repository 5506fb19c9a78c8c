internal import AuthCore
internal import Cryptography
internal import HTTPEngine
internal import StrictJSON

extension AgentAPI {
    private static let core = "urn:ietf:params:jmap:core"
    private static let mail = "urn:ietf:params:jmap:mail"
    private static let submission = "urn:ietf:params:jmap:submission"

    /// GET /.well-known/jmap: the session object (RFC 8620 §2) of the capability's account.
    func jmapSession(_ request: Request, by caller: Caller) async throws -> Response {
        let account = try await auth.mailAccount(capability: request.bearerToken, at: caller.now)
        return .json(.ok) { session in
            session.member("capabilities", writeCapabilities)
            session.member("accounts") { accounts in
                accounts.member(account.subject) { writeAccount(account, to: &$0) }
            }
            session.member("primaryAccounts") { primary in
                primary.member(Self.mail, account.subject)
                primary.member(Self.submission, account.subject)
            }
            session.member("username", account.address.description)
            session.member("apiUrl", jmap.baseURL + jmap.paths.api)
            session.member("downloadUrl", jmap.baseURL + jmap.paths.download)
            session.member("uploadUrl", jmap.baseURL + jmap.paths.upload)
            session.member("eventSourceUrl", jmap.baseURL + jmap.paths.eventSource)
            session.member("state", state(of: account))
        }
    }

    /// The mail store's API path on this server, as long as there is no mail store.
    var missingMailStore: [Route] {
        guard !jmap.hasMailStore else { return [] }
        return [
            Route(.post, jmap.paths.api) { _ in errors.render(.mailStoreMissing) },
            Route(.get, jmap.paths.api) { _ in errors.render(.mailStoreMissing) },
        ]
    }

    /// RFC 8620 §2: the core limits are those that every JMAP server must at least grant
    /// (its "suggested minimum" values); the mail store's own session object has its own.
    private func writeCapabilities(_ capabilities: inout JSONWriter) {
        capabilities.member(Self.core) { core in
            core.member("maxSizeUpload", 50_000_000)
            core.member("maxConcurrentUpload", 4)
            core.member("maxSizeRequest", 10_000_000)
            core.member("maxConcurrentRequests", 4)
            core.member("maxCallsInRequest", 16)
            core.member("maxObjectsInGet", 500)
            core.member("maxObjectsInSet", 500)
            core.member("collationAlgorithms", ["i;ascii-casemap"])
        }
        capabilities.member(Self.mail) { _ in }
        capabilities.member(Self.submission) { _ in }
    }

    private func writeAccount(_ account: MailAccount, to member: inout JSONWriter) {
        member.member("name", account.address.description)
        member.member("isPersonal", true)
        member.member("isReadOnly", false)
        member.member("accountCapabilities") { capabilities in
            // RFC 8621 §1.3.1: `null` where the mail store alone knows a limit.
            capabilities.member(Self.mail) { mail in
                mail.null("maxMailboxesPerEmail")
                mail.null("maxMailboxDepth")
                mail.member("maxSizeMailboxName", 100)
                mail.member("maxSizeAttachmentsPerEmail", 50_000_000)
                mail.member("emailQuerySortOptions", ["receivedAt"])
                mail.member("mayCreateTopLevelMailbox", true)
            }
            capabilities.member(Self.submission) { submission in
                submission.member("maxDelayedSend", 0)
                submission.member("submissionExtensions") { _ in }
            }
        }
    }

    /// Changes exactly when anything else in the object does: with the account, and with what the
    /// operator configures.
    private func state(of account: MailAccount) -> String {
        let text = [
            account.subject, account.address.description, jmap.baseURL, jmap.paths.api,
            jmap.paths.upload, jmap.paths.download, jmap.paths.eventSource,
        ].joined(separator: "\n")
        return Base64URL.encode(Array(SHA256.digest(Array(text.utf8)).prefix(12)))
    }
}
