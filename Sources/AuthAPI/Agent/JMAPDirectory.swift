internal import AuthCore
internal import Cryptography
internal import HTTPEngine
internal import StrictJSON

/// Where the JMAP mail store is: the URLs of the session object (RFC 8620 §2).
public struct JMAPDirectory: Sendable {
    /// Paths below the base, as RFC 6570 level 1 templates where the RFC has variables.
    /// The defaults are those of Cyrus IMAP.
    public struct Paths: Equatable, Sendable {
        public var api: String
        public var upload: String
        public var download: String
        public var eventSource: String

        public init(
            api: String = "/jmap/", upload: String = "/jmap/upload/{accountId}/",
            download: String = "/jmap/download/{accountId}/{blobId}/{name}?accept={type}",
            eventSource: String =
                "/jmap/eventsource/?types={types}&closeafter={closeafter}&ping={ping}"
        ) {
            self.api = api
            self.upload = upload
            self.download = download
            self.eventSource = eventSource
        }
    }

    /// The limits of the core capability (RFC 8620 §2); the defaults are the minimums that the RFC
    /// suggests. Clients keep to them; the mail store enforces its own.
    public struct Limits: Equatable, Sendable {
        /// Bytes of one upload.
        public var maxSizeUpload = 50_000_000
        /// Uploads at once.
        public var maxConcurrentUpload = 4
        /// Bytes of one request.
        public var maxSizeRequest = 10_000_000
        /// Requests at once.
        public var maxConcurrentRequests = 4
        /// Method calls in one request.
        public var maxCallsInRequest = 16
        /// Objects that one call may ask for.
        public var maxObjectsInGet = 500
        /// Objects that one call may create, update and destroy.
        public var maxObjectsInSet = 500

        public init() {}

        fileprivate var members: [(name: String, value: Int)] {
            [
                ("maxSizeUpload", maxSizeUpload), ("maxConcurrentUpload", maxConcurrentUpload),
                ("maxSizeRequest", maxSizeRequest),
                ("maxConcurrentRequests", maxConcurrentRequests),
                ("maxCallsInRequest", maxCallsInRequest), ("maxObjectsInGet", maxObjectsInGet),
                ("maxObjectsInSet", maxObjectsInSet),
            ]
        }
    }

    /// The mail store's URL, or this server's own while there is no mail store.
    let baseURL: String
    let paths: Paths
    private let limits: Limits
    /// Whether a mail store is configured.
    let hasMailStore: Bool

    /// - Parameters:
    ///   - mailStoreURL: without a slash at the end; `nil` while there is no mail store.
    ///   - publicURL: this server's own.
    public init(
        mailStoreURL: String?, publicURL: String, paths: Paths, limits: Limits = Limits()
    ) {
        baseURL = mailStoreURL ?? publicURL
        self.paths = paths
        self.limits = limits
        hasMailStore = mailStoreURL != nil
    }

    private static let core = "urn:ietf:params:jmap:core"
    private static let mail = "urn:ietf:params:jmap:mail"
    private static let submission = "urn:ietf:params:jmap:submission"

    /// The session object (RFC 8620 §2) of one mailbox.
    func session(of account: Agents.MailAccount) -> Response {
        SessionObject(
            accountID: account.subject, address: account.address.description,
            state: state(of: account), baseURL: baseURL, paths: paths,
            primary: [Self.mail, Self.submission]
        ).response(
            capabilities: writeCapabilities, accountCapabilities: writeAccountCapabilities)
    }

    private func writeCapabilities(_ capabilities: inout JSONWriter) {
        capabilities.member(Self.core) { core in
            for (name, value) in limits.members { core.member(name, value) }
            core.member("collationAlgorithms", ["i;ascii-casemap"])
        }
        capabilities.member(Self.mail) { _ in }
        capabilities.member(Self.submission) { _ in }
    }

    private func writeAccountCapabilities(_ capabilities: inout JSONWriter) {
        // RFC 8621 §1.3.1: `null` where only the mail store knows the limit.
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

    /// Changes exactly when another member of the object changes: with the account, and with the
    /// configuration.
    private func state(of account: Agents.MailAccount) -> String {
        let texts = [
            account.subject, account.address.description, baseURL, paths.api,
            paths.upload, paths.download, paths.eventSource,
        ]
        let text = (texts + limits.members.map { "\($0.value)" }).joined(separator: "\n")
        return Base64URL.encode(Array(SHA256.digest(Array(text.utf8)).prefix(12)))
    }
}
