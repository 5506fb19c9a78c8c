/// A connection on which every netstring is a request and has one netstring as its reply. No socket
/// and no clock: bytes and the time are arguments.
///
/// Guarantees: replies are in the order of requests. A request is read only when the reply before
/// it has been sent, so a client that does not read makes the server keep one buffer. A deadline is
/// set when its phase begins, and no byte extends it.
struct NetstringSession {
    struct Limits: Sendable {
        /// From the first byte of a request to its last.
        let request: MonotonicTime.Interval
        /// From a reply to the first byte of the next request.
        let idle: MonotonicTime.Interval
        /// How long a reply may wait for the client to read it.
        let write: MonotonicTime.Interval
    }

    /// What the connection has to do.
    enum Step: Equatable {
        /// Nothing, until something arrives, is sent or is answered.
        case wait
        /// Answer the request with ``reply(_:at:)``.
        case answer([UInt8])
        /// The same for a request that is too long and was dropped.
        case answerOversized
        case close
        /// Close, because the input is not a netstring.
        case reject
    }

    private enum Phase: Equatable {
        case idle(until: MonotonicTime)
        case reading(until: MonotonicTime)
        case answering
        case sending(until: MonotonicTime)
        case closed
    }

    private let limits: Limits
    private var reader: NetstringReader
    private var phase: Phase
    private var output: [UInt8] = []
    private var sentBytes = 0
    /// The connection closes when all requests that have arrived are answered.
    private var endsSoon = false

    init(limits: Limits, requestBytes: Int, at now: MonotonicTime) {
        self.limits = limits
        reader = NetstringReader(maxBytes: requestBytes)
        phase = .idle(until: now + limits.idle)
    }

    var isClosed: Bool { phase == .closed }

    var isAnswering: Bool { phase == .answering }

    /// Whether the transport is to be read.
    var wantsBytes: Bool {
        switch phase {
        case .idle, .reading: !endsSoon
        case .answering, .sending, .closed: false
        }
    }

    var unsentBytes: Int { output.count - sentBytes }

    mutating func receive(_ bytes: UnsafeRawBufferPointer, at now: MonotonicTime) {
        reader.append(bytes)
        if case .idle = phase { phase = .reading(until: now + limits.request) }
    }

    mutating func next() -> Step {
        switch phase {
        case .idle, .reading: break
        case .answering, .sending, .closed: return .wait
        }
        switch reader.next() {
        case .netstring(let request):
            phase = .answering
            return .answer(request)
        case .oversized:
            phase = .answering
            return .answerOversized
        case .invalid: return .reject
        // An incomplete request will never be complete.
        case .needMore: return endsSoon ? .close : .wait
        }
    }

    mutating func reply(_ bytes: [UInt8], at now: MonotonicTime) {
        output.append(netstring: bytes)
        phase = .sending(until: now + limits.write)
    }

    func withUnsentBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        output.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[sentBytes...])) }
    }

    /// The transport has taken some bytes.
    mutating func sent(_ count: Int, at now: MonotonicTime) {
        sentBytes += count
        guard sentBytes == output.count else { return }
        output.removeAll(keepingCapacity: true)
        sentBytes = 0
        phase =
            reader.isBetween
            ? .idle(until: now + limits.idle) : .reading(until: now + limits.request)
    }

    /// Nothing more is read: the peer has sent its end, or the server stops.
    mutating func endInput() { endsSoon = true }

    mutating func close() { phase = .closed }

    /// Whether a deadline has passed. While a request is being answered there is none.
    func hasExpired(at now: MonotonicTime) -> Bool {
        switch phase {
        case .idle(let until), .reading(let until), .sending(let until): until <= now
        case .answering, .closed: false
        }
    }

    /// Gives back the memory of empty buffers.
    mutating func releaseBuffers() {
        reader.releaseBuffer()
        if output.isEmpty { output = [] }
    }
}
