/// A protocol of bytes on one connection, as a state machine without a socket or a clock.
///
/// Its connection gives it what arrives with ``receive(_:)``, then does what ``next()`` returns,
/// until that is `nil`. It sends one action's bytes before it asks for the next action. So a client
/// that does not read makes the server keep no more than one `send`.
public protocol ByteSession: Sendable {
    /// What only the service can do.
    associatedtype Question: Sendable
    associatedtype Answer: Sendable

    /// Whether bytes are read from the connection.
    var wantsInput: Bool { get }
    var timer: SessionTimer { get }
    /// The bytes of the client that are in memory.
    var heldBytes: Int { get }

    mutating func receive(_ bytes: UnsafeRawBufferPointer)

    /// - Returns: what to do now; `nil` while the session waits for bytes or an answer.
    mutating func next() -> SessionAction<Question>?

    /// Answers the question that ``next()`` returned last.
    mutating func answer(_ answer: Answer)

    /// The same where the service has thrown an error. The server reports it.
    mutating func answerFailed()

    /// Ends the session as soon as possible: ``next()`` returns ``SessionAction/close(lingers:)``
    /// when everything that has to be sent before is sent. May be called several times.
    mutating func end(_ reason: SessionEnd)

    /// Gives back the memory of empty buffers. Called while the session is idle.
    mutating func releaseBuffers()
}

public enum SessionAction<Question: Sendable>: Sendable {
    case send([UInt8])
    /// Wants ``ByteSession/answer(_:)`` or ``ByteSession/answerFailed()``.
    case ask(Question)
    /// - Parameter lingers: whether what the client still sends is read and dropped for a while,
    ///   so that a reset does not destroy what was sent last.
    case close(lingers: Bool)
    /// Close, because the input is not of this protocol. The server reports it.
    case reject
}

/// A time limit of a session: a new one begins whenever the number is another one, and when
/// something that had to wait for the client was sent.
public struct SessionTimer: Hashable, Sendable {
    public let number: Int
    /// `nil` for none.
    public let limit: Duration?

    public init(number: Int, limit: Duration?) {
        self.number = number
        self.limit = limit
    }
}

/// Why a session has to end.
public enum SessionEnd: Sendable {
    /// The client sends no more. What it has sent is still served.
    case input
    /// The time of ``ByteSession/timer``, or of the connection, is over.
    case time
    /// All sessions together hold too many bytes.
    case memory
    /// The server stops. A question that was asked is still answered.
    case shutdown
}
