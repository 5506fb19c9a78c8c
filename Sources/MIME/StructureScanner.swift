/// Divides a message into its parts (RFC 2046 §5.1).
///
/// One walk over the lines. GMime would do it with a recursion of up to 1,024 levels into messages
/// within the message, too, and does not tell where their bytes are. Here the depth is bounded, and
/// so is the time: each line is compared with at most as many boundaries as are open.
struct StructureScanner {
    private var lines: LineScanner
    private let limits: MIMELimits
    /// The boundaries of the open multiparts, outermost first.
    private var boundaries: [[UInt8]] = []
    private var count = 0

    init(_ message: [UInt8], limits: MIMELimits) {
        self.limits = limits
        lines = LineScanner(message, end: min(message.count, limits.messageBytes))
    }

    mutating func scan() -> BodyPart {
        part(number: [], defaultType: "text/plain").part
    }

    /// What ended a part.
    private struct End {
        /// Of the boundary's multipart in `boundaries`; `nil` at the end of the message.
        var level: Int?
        var isLast = true
        /// Where the content ends: the line break before a boundary belongs to the boundary.
        var offset: Int
    }

    private mutating func part(number: [Int], defaultType: String) -> (part: BodyPart, end: End) {
        count += 1
        let isOpaque = count >= limits.parts && !number.isEmpty
        if isOpaque { return opaquePart(number) }
        let boundaries = boundaries
        let (header, headerEnd) = HeaderScan(limits: limits).read(&lines) { lines, line in
            Self.boundary(line, in: lines.bytes, of: boundaries)
        }
        let content = ContentFields(header, defaultType: defaultType, limits: limits)
        var seed = PartSeed(header: header, content: content, number: number)
        let start = lines.position
        if let headerEnd {
            seed.range = headerEnd.offset..<headerEnd.offset
            return (seed.leaf(in: lines.bytes), headerEnd)
        }
        guard ASCII.begins(content.type.utf8, with: "multipart/") else {
            let end = skip(from: start)
            seed.range = start..<end.offset
            return (seed.leaf(in: lines.bytes), end)
        }
        guard boundaries.count < limits.depth, let boundary = content.boundary, !boundary.isEmpty
        else {
            // RFC 2045 §5.2: with an invalid Content-Type it is text.
            let isTooDeep = boundaries.count >= limits.depth
            let end = skip(from: start)
            seed.range = start..<end.offset
            seed.type = isTooDeep ? PartSeed.opaqueType : "text/plain"
            return (seed.leaf(in: lines.bytes), end)
        }
        return multipart(seed, boundary: boundary, from: start)
    }

    private mutating func multipart(
        _ seed: PartSeed, boundary: [UInt8], from start: Int
    ) -> (part: BodyPart, end: End) {
        let level = boundaries.count
        boundaries.append(boundary)
        // The preamble.
        var end = skip(from: start)
        var children: [BodyPart] = []
        while end.level == level, !end.isLast {
            let isDigest = seed.type == "multipart/digest"
            let (child, childEnd) = part(
                number: seed.number + [children.count + 1],
                defaultType: isDigest ? "message/rfc822" : "text/plain")
            children.append(child)
            end = childEnd
        }
        boundaries.removeLast()
        // The epilogue.
        if end.level == level { end = skip(from: lines.position) }
        if children.isEmpty {
            // Nothing begins with its boundary; all is shown.
            var seed = seed
            seed.range = start..<max(start, end.offset)
            seed.type = "text/plain"
            return (seed.leaf(in: lines.bytes), end)
        }
        return (seed.multipart(children), end)
    }

    /// The last part that the limit allows, with all the rest of the message.
    private mutating func opaquePart(_ number: [Int]) -> (part: BodyPart, end: End) {
        let none = HeaderFields(fields: [], isTruncated: true)
        var seed = PartSeed(
            header: none,
            content: ContentFields(none, defaultType: PartSeed.opaqueType, limits: limits),
            number: number)
        seed.range = lines.position..<lines.end
        lines.position = lines.end
        return (seed.leaf(in: lines.bytes), End(offset: lines.end))
    }

    /// Reads over lines up to a boundary, and over that.
    private mutating func skip(from start: Int) -> End {
        while let line = lines.next() {
            guard var end = Self.boundary(line, in: lines.bytes, of: boundaries) else { continue }
            end.offset = max(start, end.offset)
            return end
        }
        return End(offset: lines.end)
    }

    /// - Returns: `nil` unless the line is a boundary of one of the multiparts.
    private static func boundary(
        _ line: Range<Int>, in bytes: [UInt8], of boundaries: [[UInt8]]
    ) -> End? {
        let dash = UInt8(ascii: "-")
        guard line.count > 2, bytes[line.lowerBound] == dash, bytes[line.lowerBound + 1] == dash
        else { return nil }
        let text = bytes[line].dropFirst(2)
        for (level, boundary) in boundaries.enumerated().reversed()
        where text.starts(with: boundary) {
            var rest = text.dropFirst(boundary.count)
            let isLast = rest.starts(with: "--".utf8)
            if isLast { rest = rest.dropFirst(2) }
            guard rest.allSatisfy(ASCII.isBlank) else { continue }
            var offset = line.lowerBound
            if offset > 0 { offset -= 1 }
            if offset > 0, bytes[offset - 1] == ASCII.carriageReturn { offset -= 1 }
            return End(level: level, isLast: isLast, offset: offset)
        }
        return nil
    }
}

/// A part before its content is read.
private struct PartSeed {
    static let opaqueType = "application/octet-stream"

    let header: HeaderFields
    let content: ContentFields
    let number: [Int]
    var type: String
    var range = 0..<0

    init(header: HeaderFields, content: ContentFields, number: [Int]) {
        self.header = header
        self.content = content
        self.number = number
        type = content.type
    }

    func leaf(in message: [UInt8]) -> BodyPart {
        // The only part of a message is its part 1.
        let id = (number.isEmpty ? [1] : number).map(String.init).joined(separator: ".")
        // Its encoding is the one of a leaf that it is not.
        let isMultipart = type != content.type
        let coding = isMultipart ? .identity : content.coding
        let size = coding == .identity ? range.count : coding.decode(message[range]).count
        return part(id: id, size: size, coding: coding, subParts: nil)
    }

    func multipart(_ children: [BodyPart]) -> BodyPart {
        part(id: nil, size: 0, coding: .identity, subParts: children)
    }

    private func part(
        id: String?, size: Int, coding: TransferCoding, subParts: [BodyPart]?
    ) -> BodyPart {
        let isText = ASCII.begins(type.utf8, with: "text/")
        return BodyPart(
            partId: id, size: size, header: header, name: content.name, type: type,
            charset: content.charset ?? (isText ? "us-ascii" : nil),
            disposition: content.disposition, cid: content.cid, language: content.language,
            location: content.location, flow: isText ? content.flow : nil, subParts: subParts,
            contentRange: range, coding: coding)
    }
}
