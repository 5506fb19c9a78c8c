/// The output of a connection: the exchanges that wait for their turn, and the bytes that wait to
/// be sent. No socket and no clock.
///
/// Guarantees: responses are in the order of requests, because one exchange is answered at a time.
struct ConnectionOutput {
    struct Limits: Sendable {
        /// Exchanges that wait for their turn.
        let pipelinedRequests: Int
        /// Bytes of their heads and bodies.
        let pipelinedBytes: Int
        /// Bytes that wait to be sent.
        let unsentBytes: Int
    }

    private let limits: Limits
    private var queue: [Exchange] = []
    private var queuedBytes = 0
    private var current: Exchange?
    private var buffer: [UInt8] = []
    private var sentBytes = 0

    init(limits: Limits) { self.limits = limits }

    /// Exchanges that wait for their turn.
    var waiting: Int { queue.count }

    /// A handler is running.
    var isAnswering: Bool { current != nil }

    /// And it is one of ``Route/isLongPoll``.
    var isLongPoll: Bool { current?.route?.route.isLongPoll ?? false }

    /// What is not answered or not sent, in a few words for the log; nil where nothing is.
    var pendingWork: String? {
        if let current {
            return current.route.map { "\($0.route.method) \($0.route.template)" } ?? "a request"
        }
        return unsentBytes > 0 ? "a client to read its response" : nil
    }

    /// Every request has its response, in the buffer or at the client.
    var isCaughtUp: Bool { queue.isEmpty && current == nil }

    /// The same, and everything is sent.
    var isIdle: Bool { isCaughtUp && unsentBytes == 0 }

    var unsentBytes: Int { buffer.count - sentBytes }

    /// The client reads responses more slowly than it sends requests.
    var isFull: Bool { unsentBytes > limits.unsentBytes }

    /// Whether another request may be read ahead.
    var hasSpace: Bool {
        queue.count < limits.pipelinedRequests && queuedBytes <= limits.pipelinedBytes && !isFull
    }

    /// Bytes that it keeps in memory.
    var heldBytes: Int { queuedBytes + (current?.heldBytes ?? 0) + buffer.capacity }

    mutating func enqueue(_ exchange: Exchange) {
        queue.append(exchange)
        queuedBytes += exchange.heldBytes
    }

    /// The next exchange to answer, if it may begin now. It must be finished with `finish`.
    mutating func dequeue() -> Exchange? {
        guard !queue.isEmpty, current == nil, !isFull else { return nil }
        let exchange = queue.removeFirst()
        queuedBytes -= exchange.heldBytes
        current = exchange
        return exchange
    }

    /// Appends a response.
    /// - Returns: its length in bytes.
    mutating func write(
        _ response: Response, _ frame: ResponseEncoder.Frame
    ) throws(InvalidHeader) -> Int {
        try ResponseEncoder.encode(response, frame, into: &buffer)
    }

    /// Appends a piece of the body of the current response.
    /// - Returns: its length in bytes, with the frame of the piece.
    mutating func write(piece: [UInt8], _ frame: ResponseEncoder.Frame) -> Int {
        let before = buffer.count
        ResponseEncoder.appendPiece(piece, frame, to: &buffer)
        return buffer.count - before
    }

    /// Appends the end of such a body.
    /// - Returns: its length in bytes.
    mutating func writeEnd(_ frame: ResponseEncoder.Frame) -> Int {
        let end = ResponseEncoder.endOfStream(frame)
        buffer += end
        return end.count
    }

    /// Appends bytes that are not a final response.
    mutating func write(_ bytes: [UInt8]) { buffer += bytes }

    /// The current exchange has its response.
    mutating func finish() { current = nil }

    /// The exchanges that wait will not be answered.
    mutating func dropQueue() {
        queue.removeAll()
        queuedBytes = 0
    }

    func withUnsentBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[sentBytes...])) }
    }

    mutating func sent(_ count: Int) {
        sentBytes += count
        guard sentBytes == buffer.count else { return }
        buffer.removeAll(keepingCapacity: buffer.capacity <= 4_096)
        sentBytes = 0
    }

    /// Gives back the memory of empty buffers.
    mutating func releaseBuffers() {
        if queue.isEmpty { queue = [] }
        if buffer.isEmpty { buffer = [] }
    }

    /// Drops everything that waits and frees its memory.
    mutating func discard() {
        dropQueue()
        buffer = []
        sentBytes = 0
    }
}
