public import LocalMail
public import StrictJSON

/// Every limit of the session object (RFC 8620 §2, RFC 8621 §1.3, RFC 9404 §3), and what the
/// server can do.
///
/// This module enforces those of requests and calls. The number of uploads and requests at once is
/// the HTTP layer's to enforce.
public struct JMAPLimits: Sendable {
    /// Bytes of one upload.
    public let maxSizeUpload: Int
    public static let maxConcurrentUpload = 4
    /// Bytes of one request.
    public let maxSizeRequest = 10_000_000
    public static let maxConcurrentRequests = 4
    public let maxCallsInRequest = 16
    public let maxObjectsInGet = Arguments.maxObjects
    public let maxObjectsInSet = Arguments.maxObjects
    /// Bytes of all attachments of a message, decoded. As base64 they are a message of
    /// `messageBytes`.
    public let maxSizeAttachmentsPerEmail: Int
    public let maxMailboxDepth: Int
    public let maxSizeMailboxName = 255
    /// Bytes of a blob that Blob/upload puts together.
    public let maxSizeBlobSet: Int
    /// Of one blob.
    public let maxDataSources = 64

    /// The names of all capabilities.
    public static let capabilities: Set = [
        Capability.core, Capability.mail, Capability.submission, Capability.blob,
    ]

    static let emailSortOptions = [
        "receivedAt", "sentAt", "from", "to", "subject", "size", "hasKeyword",
        "allInThreadHaveKeyword", "someInThreadHaveKeyword",
    ]

    public init(_ mail: MailLimits = MailLimits()) {
        maxSizeUpload = min(mail.messageBytes, mail.uploadedBytes)
        maxSizeBlobSet = maxSizeUpload
        // 76 of 78 bytes of a line are base64, which is 4 bytes for 3.
        maxSizeAttachmentsPerEmail = mail.messageBytes / 78 * 57
        maxMailboxDepth = mail.folderDepth
    }

    /// Writes the members of `capabilities` of the session object.
    public func writeCapabilities(_ object: inout JSONWriter) {
        object.member(Capability.core) { core in
            core.member("maxSizeUpload", maxSizeUpload)
            core.member("maxConcurrentUpload", Self.maxConcurrentUpload)
            core.member("maxSizeRequest", maxSizeRequest)
            core.member("maxConcurrentRequests", Self.maxConcurrentRequests)
            core.member("maxCallsInRequest", maxCallsInRequest)
            core.member("maxObjectsInGet", maxObjectsInGet)
            core.member("maxObjectsInSet", maxObjectsInSet)
            core.member("collationAlgorithms", [Comparator.collation])
        }
        object.member(Capability.mail) { _ in }
        object.member(Capability.submission) { _ in }
        object.member(Capability.blob) { _ in }
    }

    /// Writes the members of `accountCapabilities` of an account.
    public func writeAccountCapabilities(_ object: inout JSONWriter) {
        object.member(Capability.mail) { mail in
            mail.null("maxMailboxesPerEmail")
            mail.member("maxMailboxDepth", maxMailboxDepth)
            mail.member("maxSizeMailboxName", maxSizeMailboxName)
            mail.member("maxSizeAttachmentsPerEmail", maxSizeAttachmentsPerEmail)
            mail.member("emailQuerySortOptions", Self.emailSortOptions)
            mail.member("mayCreateTopLevelMailbox", true)
        }
        object.member(Capability.submission) { submission in
            submission.member("maxDelayedSend", 0)
            submission.member("submissionExtensions") { _ in }
        }
        object.member(Capability.blob) { blob in
            blob.member("maxSizeBlobSet", maxSizeBlobSet)
            blob.member("maxDataSources", maxDataSources)
            blob.array("supportedTypeNames") { _ in }
            blob.member("supportedDigestAlgorithms", [BlobMethods.digest])
        }
    }
}

extension JMAPRequest {
    /// - Throws: an error as well for more bytes or calls than the limits allow.
    public init(_ body: [UInt8], limits: JMAPLimits) throws(JMAPRequestError) {
        guard body.count <= limits.maxSizeRequest else { throw .limit("maxSizeRequest") }
        try self.init(
            body, capabilities: JMAPLimits.capabilities, maxCalls: limits.maxCallsInRequest)
    }
}
