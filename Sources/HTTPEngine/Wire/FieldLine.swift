/// `name: value`, read from the bytes of one line without its CR LF.
enum FieldLine {
    /// - Returns: ranges relative to `base`.
    static func parse(
        _ bytes: [UInt8], in range: Range<Int>, base: Int
    ) throws(ParseError) -> RequestHead.Field {
        var index = range.lowerBound
        // obs-fold (RFC 9112 §5.2): what one reader joins another reads as a new field.
        if ASCII.isBlank(bytes[index]) { throw .foldedField }
        while index < range.upperBound, ASCII.isToken(bytes[index]) { index += 1 }
        let nameEnd = index
        guard index < range.upperBound else { throw .badFieldLine }
        guard bytes[index] == UInt8(ascii: ":") else {
            // White space before the colon (RFC 9112 §5.1) hides a field from other readers.
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
