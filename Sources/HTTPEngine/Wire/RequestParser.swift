/// How much of everything a parser takes; see ``ServerConfiguration`` for each.
struct ParserLimits: Sendable {
    var requestLineBytes: Int
    var headBytes: Int
    var headerCount: Int
    var chunkExtensionBytes: Int
    var trailerBytes: Int
}

/// Turns the bytes of a connection into requests. No socket, no clock, no routes.
///
/// Use: `append` what was read, then call `next` until it says `needMore`. After `head`, say with
/// `readBody` how much body is taken before calling `next` again; a refusal is final. Promises:
/// never traps on any input, and answers alike however the bytes were split.
struct RequestParser {
    enum Event {
        case needMore
        case head(RequestHead)
        /// The request announced by the last `head` is whole.
        case body([UInt8])
        /// More body than `readBody` allowed.
        case tooLarge
        /// With the head as far as it was read.
        case refused(ParseError, RequestHead?)
    }

    private enum Phase {
        case head(HeadReader)
        case decision(RequestHead)
        case body(BodyReader)
        case over
    }

    private let limits: ParserLimits
    private var phase: Phase
    private var buffer: [UInt8] = []
    private var start = 0

    init(limits: ParserLimits) {
        self.limits = limits
        phase = .head(HeadReader(limits: limits))
    }

    /// Bytes that are waiting to be read; zero between requests.
    var unread: Int { buffer.count - start }

    /// What its buffers take, in bytes.
    var heldBytes: Int {
        if case .body(let reader) = phase { return buffer.capacity + reader.body.capacity }
        return buffer.capacity
    }

    /// Nothing of a next request has come.
    var isBetweenRequests: Bool {
        if case .head = phase { return unread == 0 }
        return false
    }

    /// As much of a head as has come, for the answer to one that never comes whole.
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

    mutating func next() -> Event {
        switch phase {
        case .over, .decision: return .needMore
        case .head(let reader):
            // Left in place, the reader's storage would be shared with the copy and then copied.
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
        case .refused(let error, let head): return .refused(error, head)
        }
    }

    private mutating func readBody(_ reader: consuming BodyReader) -> Event {
        var position = start
        let progress = reader.advance(buffer, from: &position)
        consume(position - start)
        switch progress {
        case .needMore:
            phase = .body(reader)
            return .needMore
        case .done:
            phase = .head(HeadReader(limits: limits))
            return .body(reader.body)
        case .tooLarge: return .tooLarge
        case .refused(let error): return .refused(error, nil)
        }
    }

    private mutating func consume(_ bytes: Int) {
        start += bytes
        guard start == buffer.count else { return }
        // A large buffer is given back: most connections are idle most of the time.
        buffer.removeAll(keepingCapacity: buffer.capacity <= 1_024)
        start = 0
    }
}
