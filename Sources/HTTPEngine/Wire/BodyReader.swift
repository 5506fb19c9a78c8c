/// Reads the body of one request (RFC 9112 §6.3, §7.1) from a buffer to which bytes are appended.
///
/// Guarantees: never keeps more than `limit` bytes. Chunk extensions and trailers are limited and
/// dropped. The result does not depend on how the bytes were split.
struct BodyReader {
    enum Progress {
        case needMore
        case done
        case tooLarge
        case invalid(ParseError)
    }

    private enum Phase {
        case length(remaining: Int)
        case chunkSize
        case chunk(remaining: Int)
        case chunkEnd
        case trailer
        case done
    }

    private(set) var body: [UInt8] = []
    private var phase: Phase
    private var received = 0
    private var extensionBytes = 0
    private var trailerBytes = 0
    private let limit: Int
    private let limits: ParserLimits
    private let keeps: Bool

    /// - Parameters:
    ///   - limit: bytes of body; more is `tooLarge`.
    ///   - keeps: false to drop the bytes, for a request that is already answered.
    init(framing: RequestHead.Framing, limit: Int, limits: ParserLimits, keeps: Bool) {
        switch framing {
        case .none: phase = .done
        case .length(let length): phase = .length(remaining: length)
        case .chunked: phase = .chunkSize
        }
        self.limit = limit
        self.limits = limits
        self.keeps = keeps
    }

    /// - Parameter start: where unread bytes begin; moved past those that were read.
    mutating func advance(_ buffer: [UInt8], from start: inout Int) -> Progress {
        while true {
            switch phase {
            case .done: return .done
            case .length(let remaining):
                guard received + remaining <= limit else { return .tooLarge }
                let left = take(remaining, of: buffer, from: &start)
                phase = left == 0 ? .done : .length(remaining: left)
                if left > 0 { return .needMore }
            case .chunk(let remaining):
                let left = take(remaining, of: buffer, from: &start)
                phase = left == 0 ? .chunkEnd : .chunk(remaining: left)
                if left > 0 { return .needMore }
            case .chunkEnd:
                guard start < buffer.count else { return .needMore }
                guard buffer[start] == UInt8(ascii: "\r") else { return .invalid(.badChunk) }
                guard start + 1 < buffer.count else { return .needMore }
                guard buffer[start + 1] == UInt8(ascii: "\n") else { return .invalid(.badChunk) }
                start += 2
                phase = .chunkSize
            case .chunkSize:
                if let stop = readChunkSize(buffer, from: &start) { return stop }
            case .trailer:
                if let stop = readTrailer(buffer, from: &start) { return stop }
            }
        }
    }

    private mutating func take(_ count: Int, of buffer: [UInt8], from start: inout Int) -> Int {
        let taken = min(count, buffer.count - start)
        if keeps { body.append(contentsOf: buffer[start..<start + taken]) }
        received += taken
        start += taken
        return count - taken
    }

    /// - Returns: nil to continue with the next phase.
    private mutating func readChunkSize(
        _ buffer: [UInt8], from start: inout Int
    ) -> Progress? {
        let digits = 16
        let longest = digits + limits.chunkExtensionBytes - extensionBytes
        let line: Range<Int>
        switch BodyReader.line(buffer, from: start, longest: longest) {
        case .incomplete: return .needMore
        case .bad: return .invalid(.badChunk)
        case .line(let range): line = range
        }
        var size = 0
        var index = line.lowerBound
        while index < line.upperBound, let value = ASCII.hexValue(buffer[index]) {
            // Fifteen digits fit an Int, and no valid chunk has more.
            guard index - line.lowerBound < digits - 1 else { return .invalid(.badChunk) }
            size = size << 4 | Int(value)
            index += 1
        }
        guard index > line.lowerBound,
            BodyReader.isExtension(buffer, in: index..<line.upperBound)
        else { return .invalid(.badChunk) }
        extensionBytes += line.upperBound - index
        guard extensionBytes <= limits.chunkExtensionBytes else { return .invalid(.badChunk) }
        guard size <= limit - received else { return .tooLarge }
        start = line.upperBound + 2
        phase = size == 0 ? .trailer : .chunk(remaining: size)
        return nil
    }

    private mutating func readTrailer(_ buffer: [UInt8], from start: inout Int) -> Progress? {
        let longest = limits.trailerBytes - trailerBytes
        switch BodyReader.line(buffer, from: start, longest: longest) {
        case .incomplete: return .needMore
        case .bad: return .invalid(.badTrailer)
        case .line(let line):
            if line.isEmpty {
                phase = .done
            } else {
                do throws(ParseError) {
                    _ = try FieldLine.parse(buffer, in: line, base: line.lowerBound)
                } catch {
                    return .invalid(.badTrailer)
                }
                trailerBytes += line.count
            }
            start = line.upperBound + 2
            return nil
        }
    }

    /// Nothing, or `;` and field characters, with white space before it (RFC 9112 §7.1.1).
    private static func isExtension(_ buffer: [UInt8], in range: Range<Int>) -> Bool {
        guard let first = buffer[range].first(where: { !ASCII.isBlank($0) }) else {
            return range.isEmpty
        }
        return first == UInt8(ascii: ";") && buffer[range].allSatisfy(ASCII.isFieldValue)
    }

    private enum Line {
        case incomplete
        case bad
        case line(Range<Int>)
    }

    /// The line from `start` to its CR LF, of at most `longest` bytes.
    private static func line(_ buffer: [UInt8], from start: Int, longest: Int) -> Line {
        let end = min(buffer.count, start + longest + 2)
        guard let feed = buffer[start..<end].firstIndex(of: UInt8(ascii: "\n")) else {
            return end - start >= longest + 2 ? .bad : .incomplete
        }
        guard feed > start, buffer[feed - 1] == UInt8(ascii: "\r") else { return .bad }
        return .line(start..<feed - 1)
    }
}
