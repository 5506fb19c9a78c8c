/// The fields of one header, in their order.
public struct HeaderFields: Equatable, Sendable {
    public let fields: [HeaderField]
    /// Whether there are more, beyond a limit.
    public let isTruncated: Bool

    /// Reads the header at the beginning of a message, and nothing after it.
    public init(
        of message: [UInt8], limits: MIMELimits = .standard
    ) throws(MIMEError) {
        try MIMELibrary.load()
        var scanner = LineScanner(message, end: min(message.count, limits.messageBytes))
        self = HeaderScan(limits: limits).read(&scanner) { _, _ in nil as Never? }.header
    }

    init(fields: [HeaderField], isTruncated: Bool) {
        self.fields = fields
        self.isTruncated = isTruncated
    }

    public func all(_ name: String) -> [HeaderField] { fields.filter { $0.isNamed(name) } }

    /// The last one of the name: the one that RFC 8621 §4.1.2 takes.
    public func last(_ name: String) -> HeaderField? { fields.last { $0.isNamed(name) } }
}

/// RFC 8621 §4.1.3.
extension HeaderFields {
    public var messageId: [String]? { last("Message-ID")?.messageIds }
    public var inReplyTo: [String]? { last("In-Reply-To")?.messageIds }
    public var references: [String]? { last("References")?.messageIds }
    public var sender: [EmailAddress]? { last("Sender")?.addresses }
    public var from: [EmailAddress]? { last("From")?.addresses }
    public var to: [EmailAddress]? { last("To")?.addresses }
    public var cc: [EmailAddress]? { last("Cc")?.addresses }
    public var bcc: [EmailAddress]? { last("Bcc")?.addresses }
    public var replyTo: [EmailAddress]? { last("Reply-To")?.addresses }
    public var subject: String? { last("Subject")?.text }
    public var sentAt: MessageDate? { last("Date")?.date }
    /// The date of the newest Received field, which is the first (RFC 5321 §4.4).
    public var receivedAt: MessageDate? { all("Received").first?.dateAfterSemicolon }
}

/// Walks over the lines of a message. A line ends with LF, with or without CR before it.
struct LineScanner {
    let bytes: [UInt8]
    /// The first byte that is not read.
    let end: Int
    /// Where the next line starts.
    var position = 0

    init(_ bytes: [UInt8], end: Int) {
        self.bytes = bytes
        self.end = end
    }

    /// - Returns: the next line, without its line break.
    mutating func next() -> Range<Int>? {
        guard position < end else { return nil }
        let start = position
        var feed = start
        while feed < end, bytes[feed] != ASCII.lineFeed { feed += 1 }
        position = min(feed + 1, end)
        let hasReturn = feed < end && feed > start && bytes[feed - 1] == ASCII.carriageReturn
        return start..<(hasReturn ? feed - 1 : feed)
    }
}

/// Reads the fields of one header.
struct HeaderScan {
    let limits: MIMELimits

    /// Reads to the empty line, and over it. A line that is neither a field nor the continuation of
    /// one is the first line of the body (and so is shown).
    /// - Parameter isEnd: what a line means that ends the part: a boundary.
    /// - Returns: with what `isEnd` returned for the line that it ended at.
    func read<End>(
        _ lines: inout LineScanner, until isEnd: (LineScanner, Range<Int>) -> End?
    ) -> (header: HeaderFields, end: End?) {
        let first = lines.position
        var collector = FieldCollector(limits: limits, first: first)
        while true {
            let start = lines.position
            guard let line = lines.next() else { break }
            if let end = isEnd(lines, line) { return (collector.finish(in: lines.bytes), end) }
            if line.isEmpty { break }
            if ASCII.isWhite(lines.bytes[line.lowerBound]), collector.isInField {
                collector.extend(to: line.upperBound)
                continue
            }
            if start == first, lines.bytes[line].starts(with: "From ".utf8) { continue }
            guard let colon = nameEnd(line, in: lines.bytes) else {
                lines.position = start
                break
            }
            collector.begin(line, colon: colon, in: lines.bytes)
        }
        return (collector.finish(in: lines.bytes), nil)
    }

    /// - Returns: where the colon is, if the line begins with the name of a field
    ///   (RFC 5322 §3.6.8).
    private func nameEnd(_ line: Range<Int>, in bytes: [UInt8]) -> Int? {
        guard
            let end = line.first(where: { !(0x21...0x7E).contains(bytes[$0]) || bytes[$0] == 0x3A }
            ),
            end > line.lowerBound
        else { return nil }
        // RFC 5322 §4.5: white space before the colon is obsolete.
        guard let colon = (end..<line.upperBound).first(where: { !ASCII.isWhite(bytes[$0]) }),
            bytes[colon] == 0x3A
        else { return nil }
        return colon
    }
}

/// Collects fields up to the limits.
private struct FieldCollector {
    private let limits: MIMELimits
    private let first: Int
    private var fields: [HeaderField] = []
    private var isTruncated = false
    private var field: (name: Range<Int>, value: Range<Int>)?
    private(set) var isInField = false

    init(limits: MIMELimits, first: Int) {
        self.limits = limits
        self.first = first
    }

    mutating func begin(_ line: Range<Int>, colon: Int, in bytes: [UInt8]) {
        close(in: bytes)
        let nameEnd = bytes[line.lowerBound..<colon].lastIndex { !ASCII.isWhite($0) } ?? colon
        field = (line.lowerBound..<(nameEnd + 1), (colon + 1)..<line.upperBound)
        isInField = true
    }

    mutating func extend(to end: Int) {
        if let open = field { field = (open.name, open.value.lowerBound..<end) }
    }

    mutating func finish(in bytes: [UInt8]) -> HeaderFields {
        close(in: bytes)
        return HeaderFields(fields: fields, isTruncated: isTruncated)
    }

    private mutating func close(in bytes: [UInt8]) {
        guard let (name, value) = field else { return }
        field = nil
        guard fields.count < limits.fields, value.upperBound - first <= limits.headerBytes else {
            isTruncated = true
            return
        }
        fields.append(
            HeaderField(
                name: String(decoding: bytes[name], as: UTF8.self), rawBytes: Array(bytes[value])))
    }
}
