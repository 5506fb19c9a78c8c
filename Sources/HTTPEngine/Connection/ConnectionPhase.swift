/// The phase of a connection: what it reads, until when, and how it ends. No socket and no clock:
/// events and the time are arguments.
///
/// Guarantees: a deadline is set when its phase begins, and no byte extends it. Once a response is
/// known to be the last, no further request is read.
struct ConnectionPhase {
    struct Limits: Sendable {
        let head: MonotonicTime.Interval
        let body: MonotonicTime.Interval
        let idle: MonotonicTime.Interval
        let write: MonotonicTime.Interval
        let linger: MonotonicTime.Interval
        /// How long a connection that waits for a request stays open while the server stops.
        let drainGrace: MonotonicTime.Interval
    }

    /// The part of the input that is being read.
    enum Reading: Equatable {
        /// Nothing; the next request must begin before the deadline.
        case idle(until: MonotonicTime)
        case head(until: MonotonicTime)
        case body(until: MonotonicTime)
        /// The body of a request that is answered already.
        case droppedBody(until: MonotonicTime)
        /// No further request is read: the last response is known, or the peer sent its end.
        case ended
    }

    /// How the connection ends.
    enum Closing: Equatable {
        case none
        /// When every response is sent.
        case afterResponses
        /// Everything is sent. Further input is read and dropped, so that no reset destroys the
        /// response (RFC 9112 §9.6).
        case lingering(until: MonotonicTime)
        case closed
    }

    /// What the connection has to do.
    enum Action: Equatable {
        case none
        /// The request did not arrive in time: answer 408 and close.
        case answerTimeout
        /// End the output, then read and drop until the peer ends its own.
        case linger
        case close
    }

    private(set) var reading: Reading
    /// The time since which it waits for a request.
    private var idleSince: MonotonicTime
    private(set) var closing = Closing.none
    private var writeDeadline: MonotonicTime?
    private var peerHasEnded = false
    /// Some input is unread after the last response, or this server closes first. So bytes may
    /// still be on their way.
    private var mustLinger = false
    private let limits: Limits

    /// The first request of a connection must arrive within the head deadline, not the idle
    /// deadline.
    init(limits: Limits, at now: MonotonicTime) {
        self.limits = limits
        reading = .idle(until: now + limits.head)
        idleSince = now
    }

    /// Whether another request may be parsed from the received bytes.
    func takesRequests(_ output: ConnectionOutput) -> Bool { reading != .ended && output.hasSpace }

    /// Whether the transport is to be read, even if the input is only dropped.
    func wantsBytes(_ output: ConnectionOutput) -> Bool {
        if peerHasEnded { return false }
        if case .lingering = closing { return true }
        return takesRequests(output)
    }

    /// What the client is to send, in a few words for the log; nil where nothing is.
    var pendingWork: String? {
        switch reading {
        case .head, .body: "the rest of a request"
        case .droppedBody, .idle, .ended: nil
        }
    }

    /// A request has begun to arrive and is not complete.
    var isMidRequest: Bool {
        switch reading {
        case .head, .body, .droppedBody: true
        case .idle, .ended: false
        }
    }

    /// The same, and the request has no response yet.
    var isReadingRequest: Bool {
        switch reading {
        case .head, .body: true
        case .idle, .droppedBody, .ended: false
        }
    }

    mutating func bytesArrived(at now: MonotonicTime) {
        if case .idle = reading { reading = .head(until: now + limits.head) }
    }

    /// A head is complete and its body is not.
    /// - Parameter isDropped: the request is answered already.
    mutating func bodyBegan(isDropped: Bool, at now: MonotonicTime) {
        let deadline = now + limits.body
        reading = isDropped ? .droppedBody(until: deadline) : .body(until: deadline)
    }

    /// A request is complete.
    /// - Parameter more: bytes of the next one have arrived.
    mutating func requestEnded(more: Bool, at now: MonotonicTime) {
        guard reading != .ended else { return }
        if more { reading = .head(until: now + limits.head) } else { wait(at: now) }
    }

    /// The response to the last request that was read is the last one.
    /// - Parameter lingers: false only if the peer asked for it and everything it sent was read.
    mutating func endInput(lingers: Bool) {
        if case .droppedBody = reading { mustLinger = true }
        reading = .ended
        mustLinger = mustLinger || lingers
        if closing == .none { closing = .afterResponses }
    }

    /// A response is ready to be sent.
    mutating func answered(at now: MonotonicTime) {
        if case .idle = reading { wait(at: now) }
    }

    private mutating func wait(at now: MonotonicTime) {
        reading = .idle(until: now + limits.idle)
        idleSince = now
    }

    /// The transport has taken what it can.
    mutating func sent(_ output: ConnectionOutput, at now: MonotonicTime) -> Action {
        if output.unsentBytes == 0 {
            writeDeadline = nil
        } else if writeDeadline == nil {
            // Set once for all waiting bytes: a client that reads one byte at a time does not
            // extend it.
            writeDeadline = now + limits.write
        }
        return finishIfDone(output, at: now)
    }

    /// The peer will send no more; its requests are still answered.
    mutating func peerEnded(_ output: ConnectionOutput, at now: MonotonicTime) -> Action {
        peerHasEnded = true
        if case .lingering = closing { return close() }
        endInput(lingers: false)
        return finishIfDone(output, at: now)
    }

    /// Checks the deadlines.
    mutating func expire(_ output: ConnectionOutput, at now: MonotonicTime) -> Action {
        if let writeDeadline, writeDeadline <= now { return close() }
        if case .lingering(let until) = closing, until <= now { return close() }
        // While earlier requests are being answered, bytes of this one may be unread, here or in
        // the kernel, because the connection is busy. The client cannot change that.
        let waitsForClient = output.isCaughtUp && !output.isFull
        switch reading {
        case .idle(let until):
            guard until <= now, output.isIdle else { return .none }
            return close()
        case .head(let until):
            guard until <= now else { return .none }
            if waitsForClient { return .answerTimeout }
            reading = .head(until: now + limits.head)
            return .none
        case .body(let until):
            guard until <= now else { return .none }
            if waitsForClient { return .answerTimeout }
            reading = .body(until: now + limits.body)
            return .none
        case .droppedBody(let until):
            guard until <= now else { return .none }
            endInput(lingers: true)
            return finishIfDone(output, at: now)
        case .ended: return .none
        }
    }

    /// The server stops. A connection without a request closes after the grace time, the others
    /// after their responses. A client learns of the stop only from a response, and a request to a
    /// closed connection is lost.
    mutating func drain(_ output: ConnectionOutput, at now: MonotonicTime) -> Action {
        guard case .idle(let until) = reading, output.isIdle, closing == .none else {
            return .none
        }
        let graceEnd = idleSince + limits.drainGrace
        guard now < graceEnd else { return close() }
        reading = .idle(until: min(until, graceEnd))
        return .none
    }

    mutating func close() -> Action {
        guard closing != .closed else { return .none }
        closing = .closed
        reading = .ended
        return .close
    }

    private mutating func finishIfDone(
        _ output: ConnectionOutput, at now: MonotonicTime
    ) -> Action {
        guard closing == .afterResponses, output.isIdle else { return .none }
        guard mustLinger, !peerHasEnded else { return close() }
        closing = .lingering(until: now + limits.linger)
        return .linger
    }
}
