/// Takes lines out of bytes. Only CRLF ends a line.
///
/// A line with a bare CR or LF is invalid as a whole, up to the next CRLF, and is reported at the
/// first one. If a bare LF ended a line for one server and not for another, a message could have
/// commands in it for one of them.
struct SMTPLineReader {
    enum Line: Equatable {
        /// Without CRLF.
        case complete([UInt8])
        case bareLineEnd
        case tooLong
        /// So long that waiting for its end is pointless.
        case endless
    }

    private var line: [UInt8] = []
    private var count = 0
    private var hasReturn = false
    private var isInvalid = false

    /// - Parameter limit: the most bytes of a line with its end.
    /// - Returns: `nil` until a line is complete. Takes nothing of what follows it.
    mutating func next(_ input: inout SMTPInput, limit: Int) -> Line? {
        while let byte = input.next() {
            count += 1
            if count > limit * SMTPLimits.skippedTimes { return .endless }
            if hasReturn, byte == 0x0A {
                if let line = finish(limit: limit) { return line }
                continue
            }
            let isBare = hasReturn || byte == 0x0A
            hasReturn = byte == 0x0D
            if isBare, !isInvalid {
                isInvalid = true
                return .bareLineEnd
            }
            if !hasReturn, count <= limit { line.append(byte) }
        }
        return nil
    }

    /// - Returns: `nil` for a line that was reported already.
    private mutating func finish(limit: Int) -> Line? {
        defer { self = SMTPLineReader() }
        if isInvalid { return nil }
        return count > limit ? .tooLong : .complete(line)
    }
}

/// Bytes that came in and were not looked at yet.
struct SMTPInput {
    private var bytes: [UInt8] = []
    private var start = 0

    var count: Int { bytes.count - start }

    mutating func append(_ new: UnsafeRawBufferPointer) {
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= SMTPLimits.bufferedBytes)
            start = 0
        } else if start > SMTPLimits.bufferedBytes {
            bytes.removeFirst(start)
            start = 0
        }
        bytes += new
    }

    mutating func next() -> UInt8? {
        guard start < bytes.count else { return nil }
        defer { start += 1 }
        return bytes[start]
    }

    /// - Returns: the bytes before the next CR or LF.
    mutating func takeText() -> ArraySlice<UInt8> {
        let text = bytes[start...].prefix { $0 != 0x0D && $0 != 0x0A }
        start = text.endIndex
        return text
    }

    /// - Returns: at most `limit` bytes.
    mutating func take(_ limit: Int) -> ArraySlice<UInt8> {
        let end = start + min(limit, count)
        defer { start = end }
        return bytes[start..<end]
    }

    mutating func removeAll() {
        self = SMTPInput()
    }
}
