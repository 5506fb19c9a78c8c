/// The limits of a request; ``ServerConfiguration`` describes each.
struct ParserLimits: Sendable {
    var requestLineBytes: Int
    var headBytes: Int
    var headerCount: Int
    var chunkExtensionBytes: Int
    var trailerBytes: Int
}

/// Turns the bytes of a connection into requests. No socket, no clock, no routes.
///
/// Use: `append` what was received, then call `next` until it returns `needMore`. After `head` call
/// `readBody` with the limit of the body. `tooLarge` and `invalid` are final. Guarantees: never
/// traps on any input, and the result does not depend on how the bytes were split.
struct RequestParser {
    enum Event {
        case needMore
        case head(RequestHead)
        /// The request of the last `head` is complete.
        case body([UInt8])
        /// More body than `readBody` allowed.
        case tooLarge
        /// With the head as far as it was read.
        case invalid(ParseError, RequestHead?)
    }

    private enum Phase {
        case head(HeadReader)
        case decision(RequestHead)
        case body(BodyReader)
        case over
    }

    let limits: ParserLimits
    private var phase: Phase
    private var buffer: [UInt8] = []
    private var start = 0

    init(limits: ParserLimits) {
        self.limits = limits
        phase = .head(HeadReader(limits: limits))
    }

    /// Bytes that were appended and not parsed; zero between requests.
    var unread: Int { buffer.count - start }

    /// Bytes that its buffers keep in memory.
    var heldBytes: Int {
        if case .body(let reader) = phase { return buffer.capacity + reader.body.capacity }
        return buffer.capacity
    }

    /// Nothing of the next request has arrived.
    var isBetweenRequests: Bool {
        if case .head = phase { return unread == 0 }
        return false
    }

    /// As much of a head as has arrived, for the response to an incomplete one.
    var partialHead: RequestHead? {
        guard case .head(let reader) = phase else { return nil }
        return reader.partial(of: buffer, from: start)
    }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start > 0 {
            buffer.removeSubrange(0..<start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Gives back the memory of an empty buffer.
    mutating func releaseBuffer() {
        if buffer.isEmpty { buffer = [] }
    }

    mutating func next() -> Event {
        switch phase {
        case .over, .decision: return .needMore
        case .head(let reader):
            // Taken out, so that the reader is not copied when it changes.
            phase = .over
            return readHead(reader)
        case .body(let reader):
            phase = .over
            return readBody(reader)
        }
    }

    /// - Parameter keeps: false to read the body and drop it.
    mutating func readBody(limit: Int, keeps: Bool = true) {
        guard case .decision(let head) = phase else { return }
        phase = .body(
            BodyReader(framing: head.framing, limit: limit, limits: limits, keeps: keeps))
    }

    private mutating func readHead(_ reader: consuming HeadReader) -> Event {
        guard unread > 0 else {
            phase = .head(reader)
            return .needMore
        }
        switch reader.advance(buffer, from: start) {
        case .needMore:
            phase = .head(reader)
            return .needMore
        case .skipped(let bytes):
            consume(bytes)
            return readHead(HeadReader(limits: limits, hasSkipped: true))
        case .done(let head, let bytes):
            consume(bytes)
            phase = .decision(head)
            return .head(head)
        case .invalid(let error, let head): return .invalid(error, head)
        }
    }

    private mutating func readBody(_ reader: consuming BodyReader) -> Event {
        var position = start
        let progress = reader.advance(buffer, from: &position)
        // A body may hold a password.
        buffer.withUnsafeMutableBytes {
            wipe(UnsafeMutableRawBufferPointer(rebasing: $0[start..<position]))
        }
        consume(position - start)
        switch progress {
        case .needMore:
            phase = .body(reader)
            return .needMore
        case .done:
            phase = .head(HeadReader(limits: limits))
            return .body(reader.body)
        case .tooLarge: return .tooLarge
        case .invalid(let error): return .invalid(error, nil)
        }
    }

    private mutating func consume(_ bytes: Int) {
        start += bytes
        guard start == buffer.count else { return }
        // A large buffer is freed: most connections are idle most of the time.
        buffer.removeAll(keepingCapacity: buffer.capacity <= 1_024)
        start = 0
    }
}
