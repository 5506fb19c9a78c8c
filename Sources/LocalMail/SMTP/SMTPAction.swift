/// What a session's driver must do.
public enum SMTPAction: Hashable, Sendable {
    case send([UInt8])
    /// Wants ``SMTPAnswer/signedIn(_:)``, ``SMTPAnswer/wrongPassword`` or
    /// ``SMTPAnswer/failed(_:)``.
    case verify(name: String, password: String)
    /// Whether the address is the account's own, or a sub-address of it. Wants
    /// ``SMTPAnswer/accepted`` or ``SMTPAnswer/failed(_:)``.
    case checkSender(String, MailAccount)
    /// Wants ``SMTPAnswer/accepted`` or ``SMTPAnswer/failed(_:)``.
    case checkRecipient(String)
    /// Wants ``SMTPAnswer/delivered(_:)`` or ``SMTPAnswer/failed(_:)``.
    case deliver(SMTPMessage)
    /// - Parameter lingers: whether the client may not expect it and still be sending.
    case close(lingers: Bool)
}

/// The answer to an action that asks something.
public enum SMTPAnswer: Sendable {
    case signedIn(MailAccount)
    case wrongPassword
    case accepted
    case delivered([DeliveryResult])
    case failed(DeliveryFailure)
}

/// Why a session has to end.
public enum SMTPEnd: Sendable {
    /// The client sends no more. What it has sent is still served.
    case input
    /// The time of a command, a message or the session is over.
    case time
    /// All sessions together hold too many bytes.
    case memory
    case shutdown

    var reply: SMTPReply? {
        switch self {
        case .input: nil
        case .time: SMTPReply(421, "4.4.2", "Timeout")
        case .memory: SMTPReply(421, "4.3.1", "No memory left for mail")
        case .shutdown: SMTPReply(421, "4.3.2", "Shutting down")
        }
    }
}

/// A time limit of a session: a new one begins whenever the number is another one.
public struct SMTPTimer: Hashable, Sendable {
    public let number: Int
    /// `nil` while the session waits for an answer of its driver.
    public let limit: Duration?
}
