internal import AuthCore
internal import Platform
internal import Scheduling

/// One line of the log, as bytes.
///
/// The result is always one line: control characters and line separators are escaped, so no value
/// that a client sends can forge a line or a member.
struct LogLine {
    enum Format: Sendable {
        /// For people at a terminal: time, level, message, `name=value`.
        case text
        /// For programs: one JSON object.
        case json
    }

    private let format: Format
    private(set) var bytes: [UInt8] = []

    /// - Parameter level: `info`, `warning` and so on.
    init(_ format: Format, time: Instant, level: StaticString, message: String) {
        self.format = format
        bytes.reserveCapacity(320)
        switch format {
        case .text:
            append(time)
            append(" ")
            append(level)
            bytes += repeatElement(0x20, count: max(1, 9 - level.utf8CodeUnitCount))
            escape(message, quotes: false)
        case .json:
            append("{\"time\":\"")
            append(time)
            append("\",\"level\":\"")
            append(level)
            append("\",\"message\":\"")
            escape(message, quotes: true)
            append("\"")
        }
    }

    mutating func add(_ name: String, _ value: String) {
        begin(name)
        appendString(value)
    }

    mutating func add(_ name: String, _ value: Int) {
        begin(name)
        append(value)
    }

    mutating func add(_ field: LogField, _ value: String) {
        guard begin(field) else { return }
        appendString(value)
    }

    mutating func add(_ field: LogField, _ value: Int) {
        guard begin(field) else { return }
        append(value)
    }

    /// The line with its newline.
    consuming func finish() -> [UInt8] {
        if format == .json { bytes.append(UInt8(ascii: "}")) }
        bytes.append(0x0a)
        return bytes
    }

    private mutating func begin(_ name: String) {
        switch format {
        case .text:
            append(" ")
            escape(name, quotes: false)
            append("=")
        case .json:
            append(",\"")
            escape(name, quotes: true)
            append("\":")
        }
    }

    /// - Returns: false where the format leaves the field out.
    private mutating func begin(_ field: LogField) -> Bool {
        switch format {
        case .text:
            guard let name = field.shortName else { return false }
            append(" ")
            append(name)
            append("=")
        case .json:
            append(",\"")
            append(field.name)
            append("\":")
        }
        return true
    }

    private mutating func appendString(_ value: String) {
        switch format {
        case .text: escape(value, quotes: false)
        case .json:
            append("\"")
            escape(value, quotes: true)
            append("\"")
        }
    }

    private mutating func append(_ text: StaticString) {
        bytes += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    private mutating func append(_ number: Int, width: Int = 1) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        // Writes the first digit first, because reversing a slice of an array copies it.
        let value = number.magnitude
        var power: UInt = 1
        var digits = 1
        while digits < width || value / power >= 10 {
            power *= 10
            digits += 1
        }
        while power > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / power % 10))
            power /= 10
        }
    }

    /// RFC 3339 in UTC with milliseconds.
    private mutating func append(_ time: Instant) {
        let date = UTCDate(secondsSince1970: time.seconds)
        append(date.year, width: 4)
        append("-")
        append(date.month, width: 2)
        append("-")
        append(date.day, width: 2)
        append("T")
        append(date.hour, width: 2)
        append(":")
        append(date.minute, width: 2)
        append(":")
        append(date.second, width: 2)
        append(".")
        append(Int(time.milliseconds - time.seconds * 1000), width: 3)
        append("Z")
    }

    private mutating func escape(_ text: String, quotes: Bool) {
        // Nearly all text is plain, and copying it takes a tenth of the time that checking each
        // scalar takes.
        if appendPlain(text) { return }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                if quotes { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(UInt8(ascii: scalar))
            case " "..."~": bytes.append(UInt8(ascii: scalar))
            case _ where scalar.isPrintable: bytes += UTF8.encode(scalar).map { Array($0) } ?? []
            default: bytes += Array(scalar.escape.utf8)
            }
        }
    }

    /// - Returns: whether `text` was visible ASCII without quotes, and has been appended.
    private mutating func appendPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { utf8 in
            let isPlain = utf8.allSatisfy { byte in
                (0x20...0x7e).contains(byte) && byte != UInt8(ascii: "\"")
                    && byte != UInt8(ascii: "\\")
            }
            if isPlain { bytes += utf8 }
            return isPlain
        }
    }
}
