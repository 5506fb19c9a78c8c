internal import AuthCore
internal import Glibc

/// One line of the log, built as octets.
///
/// Promises: whatever goes in, what comes out is one line: control characters and line separators
/// in values are escaped, so nothing that a client sends can forge a line or a member.
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
        switch format {
        case .text: escape(value, quotes: false)
        case .json:
            append("\"")
            escape(value, quotes: true)
            append("\"")
        }
    }

    mutating func add(_ name: String, _ value: Int) {
        begin(name)
        append(value)
    }

    /// The line with its end.
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

    private mutating func append(_ text: StaticString) {
        bytes += UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    }

    private mutating func append(_ number: Int, width: Int = 1) {
        if number < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = number.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(rest % 10))
            rest /= 10
        } while rest > 0
        while bytes.count - start < width { bytes.append(UInt8(ascii: "0")) }
        bytes[start...].reverse()
    }

    /// RFC 3339 in UTC with milliseconds.
    private mutating func append(_ time: Instant) {
        var seconds = time_t(time.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        append(Int(parts.tm_year) + 1900, width: 4)
        append("-")
        append(Int(parts.tm_mon) + 1, width: 2)
        append("-")
        append(Int(parts.tm_mday), width: 2)
        append("T")
        append(Int(parts.tm_hour), width: 2)
        append(":")
        append(Int(parts.tm_min), width: 2)
        append(":")
        append(Int(parts.tm_sec), width: 2)
        append(".")
        append(Int(time.milliseconds - time.seconds * 1000), width: 3)
        append("Z")
    }

    private mutating func escape(_ text: String, quotes: Bool) {
        // Nearly everything is plain, and a copy costs a tenth of looking at scalars.
        if appendPlain(text) { return }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                if quotes { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(UInt8(ascii: scalar))
            case " "..."~": bytes.append(UInt8(ascii: scalar))
            case _ where scalar.isHarmless: bytes += UTF8.encode(scalar).map { Array($0) } ?? []
            default: bytes += Array(scalar.escape.utf8)
            }
        }
    }

    /// - Returns: whether `text` was visible ASCII without quotes, and has been appended.
    private mutating func appendPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { octets in
            let isPlain = octets.allSatisfy { octet in
                (0x20...0x7e).contains(octet) && octet != 0x22 && octet != 0x5c
            }
            if isPlain { bytes += octets }
            return isPlain
        }
    }
}
