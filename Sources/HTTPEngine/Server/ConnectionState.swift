/// Decides what a connection waits for, until when, and when it ends. No socket, no clock: it is
/// told what happened and at which moment.
///
/// Promises: a deadline is set when its phase begins and no byte moves it; once an answer is the
/// last no further request is taken; replies are in the order of requests, for one is answered at
/// a time.
struct ConnectionState {
    struct Limits: Sendable {
        let pipelinedRequests: Int
        let pipelinedBytes: Int
        let outboxBytes: Int
        let head: MonotonicTime.Interval
        let body: MonotonicTime.Interval
        let idle: MonotonicTime.Interval
        let write: MonotonicTime.Interval
        let linger: MonotonicTime.Interval
    }

    /// What is being read.
    enum Input: Equatable {
        /// Between requests, until then.
        case idle(until: MonotonicTime)
        case head(until: MonotonicTime)
        /// A request that waits for the rest of its body.
        case body(until: MonotonicTime)
        /// The body of a request that is answered already.
        case discarding(until: MonotonicTime)
        /// No further request is taken: the last answer is known, or the peer sent its end.
        case ended
    }

    /// How a connection comes to its end.
    enum Closing: Equatable {
        case none
        /// When everything is answered and sent.
        case afterReplies
        /// All is sent; what still comes is read and dropped, so that no reset overtakes the reply.
        case lingering(until: MonotonicTime)
        case closed
    }

    /// What the connection is to do.
    enum Action: Equatable {
        case none
        /// The request did not come in time: answer 408 and close.
        case answerTimeout
        /// Send our end, then read and drop until the peer sends its own.
        case linger
        case close
    }

    private(set) var input: Input
    private(set) var closing = Closing.none
    /// Complete requests and ready answers that wait for their turn.
    private(set) var waiting = 0
    /// Bytes of heads and bodies that wait with them.
    private(set) var waitingBytes = 0
    private(set) var isAnswering = false
    /// Bytes of the request that is being answered.
    private var answeringBytes = 0
    private(set) var unsent = 0
    private var writeDeadline: MonotonicTime?
    private var peerEnded = false
    /// The last answer leaves input unread, or was our wish: bytes may still be on their way.
    private var mustLinger = false
    private let limits: Limits

    /// A fresh connection has the head's time, not the idle time, for its first request.
    init(limits: Limits, at now: MonotonicTime) {
        self.limits = limits
        input = .idle(until: now + limits.head)
    }

    /// Whether another request may be parsed from what has been read.
    var takesRequests: Bool {
        input != .ended && waiting < limits.pipelinedRequests
            && waitingBytes <= limits.pipelinedBytes && !isOutboxFull
    }

    /// The peer reads more slowly than it asks.
    var isOutboxFull: Bool { unsent > limits.outboxBytes }

    /// Whether the socket shall be read: also to drop what comes while lingering.
    var wantsBytes: Bool {
        if peerEnded { return false }
        if case .lingering = closing { return true }
        return takesRequests
    }

    /// Whether the next waiting request may be handed to its handler.
    var mayAnswer: Bool { waiting > 0 && !isAnswering && !isOutboxFull }

    /// Nothing has been asked that is not answered and sent.
    var isQuiet: Bool {
        guard case .idle = input else { return false }
        return waiting == 0 && !isAnswering && unsent == 0
    }

    /// Bytes of requests that wait or are being answered.
    var heldBytes: Int { waitingBytes + answeringBytes }

    /// A request has begun to come and is not whole.
    var isMidRequest: Bool {
        switch input {
        case .head, .body, .discarding: true
        case .idle, .ended: false
        }
    }

    mutating func bytesArrived(at now: MonotonicTime) {
        if case .idle = input { input = .head(until: now + limits.head) }
    }

    /// A head is whole and there is more of its request to come.
    mutating func bodyBegan(answered: Bool, at now: MonotonicTime) {
        let deadline = now + limits.body
        input = answered ? .discarding(until: deadline) : .body(until: deadline)
    }

    /// A request is whole; `more` tells that bytes of a next one are here already.
    mutating func requestEnded(more: Bool, at now: MonotonicTime) {
        guard input != .ended else { return }
        input = more ? .head(until: now + limits.head) : .idle(until: now + limits.idle)
    }

    /// A request, or an answer that needs no handler, waits for its turn.
    mutating func enqueued(bytes: Int = 0) {
        waiting += 1
        waitingBytes += bytes
    }

    /// The peer or we ask for this to be the last answer.
    /// - Parameter lingers: false only if the peer asked and everything it sent has been read.
    mutating func endInput(lingers: Bool) {
        if case .discarding = input { mustLinger = true }
        input = .ended
        mustLinger = mustLinger || lingers
        if closing == .none { closing = .afterReplies }
    }

    /// The first of those that wait is handed to its handler, with as many bytes as it came.
    mutating func answerBegan(bytes: Int = 0) {
        waiting -= 1
        waitingBytes -= bytes
        answeringBytes = bytes
        isAnswering = true
    }

    /// An answer is in the outbox. If it is the last, whatever waits behind it is dropped.
    mutating func answered(bytes: Int, isLast: Bool, at now: MonotonicTime) {
        isAnswering = false
        answeringBytes = 0
        unsent += bytes
        if isLast {
            forgetWaiting()
            endInput(lingers: false)
        }
        if case .idle = input { input = .idle(until: now + limits.idle) }
    }

    /// Those that wait are not going to be answered.
    mutating func forgetWaiting() {
        waiting = 0
        waitingBytes = 0
    }

    /// An interim reply is in the outbox.
    mutating func interimSent(bytes: Int) { unsent += bytes }

    /// What the kernel has left in the outbox after a try to send.
    mutating func sent(leaving rest: Int, at now: MonotonicTime) -> Action {
        unsent = rest
        if rest == 0 {
            writeDeadline = nil
        } else if writeDeadline == nil {
            // Set once for the whole backlog: reading one byte at a time does not move it.
            writeDeadline = now + limits.write
        }
        return finishIfDone(at: now)
    }

    /// The peer will send no more; what it asked is still answered.
    mutating func peerSentEnd(at now: MonotonicTime) -> Action {
        peerEnded = true
        if case .lingering = closing { return close() }
        endInput(lingers: false)
        return finishIfDone(at: now)
    }

    /// Which deadline has passed.
    mutating func expire(at now: MonotonicTime) -> Action {
        if let writeDeadline, writeDeadline <= now { return close() }
        if case .lingering(let until) = closing, until <= now { return close() }
        switch input {
        case .idle(let until):
            guard until <= now, isQuiet else { return .none }
            return close()
        case .head(let until):
            guard until <= now else { return .none }
            guard isWaitedFor else { return extend(.head(until: now + limits.head)) }
            return .answerTimeout
        case .body(let until):
            guard until <= now else { return .none }
            guard isWaitedFor else { return extend(.body(until: now + limits.body)) }
            return .answerTimeout
        case .discarding(let until):
            guard until <= now else { return .none }
            endInput(lingers: true)
            return finishIfDone(at: now)
        case .ended: return .none
        }
    }

    /// The server stops: idle connections end now, others after what was asked.
    mutating func drain() -> Action {
        guard isQuiet, closing == .none else { return .none }
        return close()
    }

    mutating func close() -> Action {
        guard closing != .closed else { return .none }
        closing = .closed
        input = .ended
        return .close
    }

    /// Nothing but the peer keeps this request from going on. While earlier ones are being answered
    /// its bytes may be here or in the kernel, unread because we are busy.
    private var isWaitedFor: Bool { waiting == 0 && !isAnswering && !isOutboxFull }

    private mutating func extend(_ phase: Input) -> Action {
        input = phase
        return .none
    }

    private mutating func finishIfDone(at now: MonotonicTime) -> Action {
        guard closing == .afterReplies, waiting == 0, !isAnswering, unsent == 0 else {
            return .none
        }
        guard mustLinger, !peerEnded else { return close() }
        closing = .lingering(until: now + limits.linger)
        return .linger
    }
}
