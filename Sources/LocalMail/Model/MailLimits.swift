/// Every limit of the mail in this process.
public struct MailLimits: Sendable {
    public var messageBytes = 10 << 20
    /// Of all accounts, with uploaded blobs and captured messages. What several recipients share
    /// counts once.
    public var totalBytes = 64 << 20
    /// Each message takes memory besides its bytes.
    public var totalMessages = 100_000
    /// Of one account.
    public var uploadedBytes = 20 << 20
    public var uploadAge = Duration.seconds(3600)
    /// Entries of one account's change log, by type.
    public var changes = 10_000
    public var folders = 1000
    public var folderDepth = 10
    public var keywordsPerMessage = 100
    public var filterDepth = 32
    public var filterConditions = 100
    /// Of one message.
    public var recipients = 100
    /// Kept for one account; the oldest are dropped.
    public var submissions = 1000

    public init() {}
}
