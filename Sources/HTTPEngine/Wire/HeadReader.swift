/// Reads the head of one request, line by line, from a buffer to which bytes are appended.
///
/// Guarantees: The result does not depend on how the bytes were split. No byte is searched twice
/// for the end of a line, so single bytes do not cause quadratic cost.
struct HeadReader {
    enum Progress {
        case needMore
        /// One empty line before the request (RFC 9112 §2.2); the first `bytes` are to be dropped.
        case skipped(bytes: Int)
        case done(RequestHead, bytes: Int)
        case invalid(ParseError, RequestHead?)
    }

    private let limits: ParserLimits
    private var lineStart = 0
    private var scanned = 0
    private var line: RequestLine?
    private var fields: [RequestHead.Field] = []
    private var semantics = HeadSemantics()
    private var hasSkipped: Bool

    /// - Parameter hasSkipped: there was an empty line already; only one is accepted.
    init(limits: ParserLimits, hasSkipped: Bool = false) {
        self.limits = limits
        self.hasSkipped = hasSkipped
    }

    /// - Parameter base: where this head begins in `buffer`; the same at each call.
    mutating func advance(_ buffer: [UInt8], from base: Int) -> Progress {
        let available = buffer.count - base
        while true {
            while scanned < available, buffer[base + scanned] != UInt8(ascii: "\n") {
                scanned += 1
            }
            if let error = overrun(through: scanned) { return invalid(error, buffer, base) }
            guard scanned < available else { return .needMore }
            let end = scanned - 1
            guard end >= lineStart, buffer[base + end] == UInt8(ascii: "\r") else {
                return invalid(.badLineEnd, buffer, base)
            }
            let content = base + lineStart..<base + end
            scanned += 1
            if content.isEmpty, line == nil {
                guard !hasSkipped else { return invalid(.badRequestLine, buffer, base) }
                return .skipped(bytes: scanned)
            }
            do throws(ParseError) {
                if content.isEmpty { return .done(try finish(buffer, base), bytes: scanned) }
                try read(content, of: buffer, base)
            } catch {
                return invalid(error, buffer, base)
            }
            lineStart = scanned
        }
    }

    /// The error if the line up to `end` is too long. Checked before the line is read, so that the
    /// error is the same whether the end of the line has arrived or not.
    private func overrun(through end: Int) -> ParseError? {
        if line == nil {
            // And the CR.
            return end - lineStart > limits.requestLineBytes + 1 ? .requestLineTooLong : nil
        }
        return end >= limits.headBytes ? .headTooLarge : nil
    }

    private mutating func read(
        _ content: Range<Int>, of buffer: [UInt8], _ base: Int
    ) throws(ParseError) {
        guard line != nil else {
            line = try RequestLine(buffer, in: content)
            return
        }
        guard fields.count < limits.headerCount else { throw .tooManyFields }
        let field = try FieldLine.parse(buffer, in: content, base: base)
        try semantics.read(field, of: buffer, base: base)
        fields.append(field)
    }

    private func finish(_ buffer: [UInt8], _ base: Int) throws(ParseError) -> RequestHead {
        guard let line else { throw .badRequestLine }
        try semantics.checkHost(minorVersion: line.minorVersion)
        let framing = try semantics.framing(minorVersion: line.minorVersion)
        return RequestHead(
            method: line.method, bytes: Array(buffer[base..<base + scanned]), fields: fields,
            target: line.target, framing: framing, minorVersion: line.minorVersion,
            keepsAlive: semantics.keepsAlive(minorVersion: line.minorVersion),
            // HTTP/1.0 has no interim responses (RFC 9110 §10.1.1).
            expectsContinue: semantics.expectsContinue && line.minorVersion > 0
                && framing != .none,
            trace: semantics.trace)
    }

    private func invalid(_ error: ParseError, _ buffer: [UInt8], _ base: Int) -> Progress {
        .invalid(error, partial(of: buffer, from: base))
    }

    /// The head as far as its request line can be read, so that the error is rendered by the group
    /// of its path. Not for routing: the target may hold any bytes.
    func partial(of buffer: [UInt8], from base: Int) -> RequestHead? {
        // Only as much of the line as its limit allows, so that the result does not depend on how
        // the bytes were split.
        let end = line == nil ? min(scanned, limits.requestLineBytes + 2) : lineStart
        guard let line = line ?? RequestLine(legibleIn: buffer, base..<base + end) else {
            return nil
        }
        return RequestHead(
            method: line.method, bytes: Array(buffer[base..<base + end]), fields: [],
            target: line.target, framing: .none, minorVersion: line.minorVersion,
            keepsAlive: false, expectsContinue: false, isWhole: false)
    }
}

/// `name: value`, read from the bytes of one line without its CR LF.
enum FieldLine {
    /// - Returns: ranges relative to `base`.
    static func parse(
        _ bytes: [UInt8], in range: Range<Int>, base: Int
    ) throws(ParseError) -> RequestHead.Field {
        var index = range.lowerBound
        // obs-fold (RFC 9112 §5.2): other implementations read a folded line as a new field.
        if ASCII.isBlank(bytes[index]) { throw .foldedField }
        while index < range.upperBound, ASCII.isToken(bytes[index]) { index += 1 }
        let nameEnd = index
        guard index < range.upperBound else { throw .badFieldLine }
        guard bytes[index] == UInt8(ascii: ":") else {
            // With white space before the colon other implementations do not recognise the field
            // (RFC 9112 §5.1).
            throw ASCII.isBlank(bytes[index]) ? .badFieldLine : .badFieldName
        }
        guard nameEnd > range.lowerBound else { throw .badFieldName }
        var start = index + 1
        var end = range.upperBound
        while start < end, ASCII.isBlank(bytes[start]) { start += 1 }
        while end > start, ASCII.isBlank(bytes[end - 1]) { end -= 1 }
        for position in start..<end where !ASCII.isFieldValue(bytes[position]) {
            throw .badFieldValue
        }
        return RequestHead.Field(
            nameStart: UInt32(range.lowerBound - base), nameEnd: UInt32(nameEnd - base),
            valueStart: UInt32(start - base), valueEnd: UInt32(end - base))
    }
}
