public import AuthCore
public import Fetching

extension OutboundMail {
    /// A message with which the operator tries the relay.
    /// - Parameters:
    ///   - serverName: how the server is called: its host name.
    ///   - id: unique: letters and digits.
    public init(
        tryingRelayFrom sender: MailAddress, to recipient: Email, serverName: String, id: String,
        time: Instant
    ) {
        let message = MailMessage(
            sender: sender, recipient: recipient, text: MailText(tryingRelayOf: serverName),
            id: id, time: time)
        self.init(sender: sender.email.text, recipient: recipient.text, bytes: message.bytes)
    }
}
