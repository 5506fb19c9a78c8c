/// What the mail needs of the rest of the program. All are called without any lock.
public struct MailEnvironment: Sendable {
    public let reader: any MessageReader
    public let now: @Sendable () -> MailInstant
    public let random: @Sendable () -> UInt64
    /// Sub-addresses belong to the account of the address without it.
    public let owner: @Sendable (_ address: String) async -> AddressOwner
    /// The most bytes of messages that an account may have.
    public let quota: @Sendable (_ accountID: String) -> Int
    /// Called when a message was delivered, before its sender hears of it.
    public let delivered: @Sendable (MailAccount, MailEmail) async -> Void

    public init(
        reader: any MessageReader,
        now: @escaping @Sendable () -> MailInstant,
        random: @escaping @Sendable () -> UInt64,
        owner: @escaping @Sendable (_ address: String) async -> AddressOwner,
        quota: @escaping @Sendable (_ accountID: String) -> Int,
        delivered: @escaping @Sendable (MailAccount, MailEmail) async -> Void = { _, _ in }
    ) {
        self.reader = reader
        self.now = now
        self.random = random
        self.owner = owner
        self.quota = quota
        self.delivered = delivered
    }
}
