/// A connection on which every netstring is a request and has one netstring as its reply. No socket
/// and no clock.
///
/// Guarantees: replies are in the order of requests. A request is read only when the reply before
/// it has been sent.
struct NetstringSession: ByteSession {
    private enum Phase {
        case reading, answering, closed
    }

    /// From the first byte of a request to its last.
    private let requestTime: Duration
    /// From a reply to the first byte of the next request.
    private let idleTime: Duration
    private let oversized: [UInt8]
    private let failed: [UInt8]
    private var reader: NetstringReader
    private var phase = Phase.reading
    /// The reply that was not handed to the connection yet.
    private var output: [UInt8] = []
    private var periods = 0
    /// The connection closes when all requests that have arrived are answered.
    private var endsSoon = false

    /// - Parameters:
    ///   - oversized: the reply to a request of more than `requestBytes`.
    ///   - failed: the reply to a request whose answer failed.
    init(
        requestTime: Duration, idleTime: Duration, requestBytes: Int, oversized: [UInt8] = [],
        failed: [UInt8] = []
    ) {
        self.requestTime = requestTime
        self.idleTime = idleTime
        self.oversized = oversized
        self.failed = failed
        reader = NetstringReader(maxBytes: requestBytes)
    }

    var wantsInput: Bool { phase == .reading && !endsSoon }

    /// While a request is being answered there is no limit.
    var timer: SessionTimer {
        switch phase {
        case .reading where reader.isBetween: SessionTimer(number: periods, limit: idleTime)
        case .reading: SessionTimer(number: periods, limit: requestTime)
        case .answering, .closed: SessionTimer(number: periods, limit: nil)
        }
    }

    var heldBytes: Int { reader.heldBytes }

    mutating func receive(_ bytes: UnsafeRawBufferPointer) {
        if reader.isBetween { periods += 1 }
        reader.append(bytes)
    }

    mutating func next() -> SessionAction<[UInt8]>? {
        if !output.isEmpty {
            defer { output = [] }
            return .send(output)
        }
        guard phase == .reading else { return nil }
        switch reader.next() {
        case .netstring(let request):
            enter(.answering)
            return .ask(request)
        case .oversized:
            reply(oversized)
            return next()
        case .invalid:
            phase = .closed
            return .reject
        case .needMore:
            // An incomplete request will never be complete.
            guard endsSoon else { return nil }
            phase = .closed
            return .close(lingers: false)
        }
    }

    mutating func answer(_ bytes: [UInt8]) { reply(bytes) }

    mutating func answerFailed() { reply(failed) }

    /// A request that has arrived is answered, unless there is no time or memory for that.
    mutating func end(_ reason: SessionEnd) {
        endsSoon = true
        switch reason {
        case .input, .shutdown: break
        case .time, .memory: reader.discard()
        }
    }

    mutating func releaseBuffers() { reader.releaseBuffer() }

    private mutating func reply(_ bytes: [UInt8]) {
        output.append(netstring: bytes)
        enter(.reading)
    }

    private mutating func enter(_ new: Phase) {
        phase = new
        periods += 1
    }
}
