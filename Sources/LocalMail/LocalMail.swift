// LocalMail: the mail of accounts, in the memory of this process.
//
// Owns: folders, messages, threads and submissions with the states and changes of RFC 8620 and
// RFC 8621, delivery to accounts, the list of what was delivered or captured, and the SMTP session
// (RFC 5321) as a state machine. Never knows a token, HTTP, JSON or a socket, never reads the
// format of a message (a ``MessageReader`` does), and never sends anything to another machine.

/// What the mail needs of the rest of the program. All are called without any lock.
public struct MailEnvironment: Sendable {
    public let reader: any MessageReader
    public let now: @Sendable () -> MailInstant
    public let random: @Sendable () -> UInt64
    /// Sub-addresses belong to the account of the address without it.
    public let owner: @Sendable (_ address: String) async -> AddressOwner
    /// The most bytes of messages that an account may have.
    public let quota: @Sendable (_ accountID: String) -> Int

    public init(
        reader: any MessageReader,
        now: @escaping @Sendable () -> MailInstant,
        random: @escaping @Sendable () -> UInt64,
        owner: @escaping @Sendable (_ address: String) async -> AddressOwner,
        quota: @escaping @Sendable (_ accountID: String) -> Int
    ) {
        self.reader = reader
        self.now = now
        self.random = random
        self.owner = owner
        self.quota = quota
    }
}
