extension JSONReader {
    /// Reads a number (RFC 8259 §6).
    mutating func number() throws(JSONFault) -> JSONValue {
        let start = index
        _ = takeByte(UInt8(ascii: "-"))
        try integerPart(from: start)
        let isWhole = index
        if takeByte(UInt8(ascii: ".")) { try digits(from: start) }
        if takeByte(UInt8(ascii: "e")) || takeByte(UInt8(ascii: "E")) {
            if !takeByte(UInt8(ascii: "+")) { _ = takeByte(UInt8(ascii: "-")) }
            try digits(from: start)
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if index == isWhole {
            if let value = Int64(text) { return .integer(value) }
            if let value = UInt64(text) { return .unsigned(value) }
        }
        guard let value = Double(text), value.isFinite else {
            throw fault(.numberOutOfRange, at: start)
        }
        return .number(value)
    }

    /// A zero stands alone: `01` is not a number.
    private mutating func integerPart(from start: Int) throws(JSONFault) {
        if takeByte(UInt8(ascii: "0")) {
            if let next = peek, isDigit(next) { throw fault(.invalidNumber, at: start) }
        } else {
            try digits(from: start)
        }
    }

    private mutating func digits(from start: Int) throws(JSONFault) {
        guard let first = peek else { throw fault(.unexpectedEnd) }
        guard isDigit(first) else { throw fault(.invalidNumber, at: start) }
        while let byte = peek, isDigit(byte) { index += 1 }
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private mutating func takeByte(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        index += 1
        return true
    }
}
