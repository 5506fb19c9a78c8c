/// The limits of an SMTP session.
public struct SMTPLimits: Sendable {
    public var messageBytes = 10 << 20
    public var recipients = 100
    /// Permanent errors, after which the session ends.
    public var errors = 10
    /// Commands between two messages.
    public var commands = 1000
    /// From a reply to the end of the next command. RFC 5321 §4.5.3.2.7 asks for five minutes of
    /// servers on the Internet; this one has clients on the same machine.
    public var commandTime = Duration.seconds(60)
    /// From the 354 reply, or the BDAT command, to the last byte of the message or chunk.
    public var dataTime = Duration.seconds(180)
    /// From the greeting to the end of the session, for the driver to keep.
    public var sessionTime = Duration.seconds(3600)

    public init() {}

    /// RFC 5321 §4.5.3.1.4, with the line end.
    static let commandBytes = 512
    /// The parameters SIZE (RFC 1870 §3), BODY (RFC 6152 §2), SMTPUTF8 (RFC 6531 §3.4) and AUTH
    /// (RFC 4954 §5) lengthen MAIL.
    static let mailBytes = 512 + 26 + 17 + 10 + 500
    /// RFC 4954 §4.
    static let authenticationBytes = 12_288
    /// RFC 5321 §4.5.3.1.6, with the line end.
    static let textLineBytes = 1000
    /// What follows an answer that is outstanding. More is not taken from the driver.
    static let bufferedBytes = 65_536
    /// What is skipped of a line or a message that is too long, in its limits.
    static let skippedTimes = 4
}
