/// A response has a header that is not valid, for example because it contains a line end.
public struct InvalidHeader: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name if the value is invalid; nil if the name is invalid. Never the value, which may be
    /// a secret.
    public let name: String?

    public var description: String {
        name.map { "The value of the header \($0) is not valid." } ?? "A header name is not valid."
    }
}

/// Writes responses as bytes into a buffer that its owner reuses.
///
/// Guarantees: writes exactly one response, or nothing when it throws.
struct ResponseEncoder {
    /// The parts of a response that the engine decides.
    struct Frame {
        let id: RequestID
        let date: [UInt8]
        /// The response to HEAD has the length of the body, but no body.
        let isHead: Bool
        let minorVersion: UInt8
        let keepsAlive: Bool
        /// The header fields that every response has.
        var common: [CommonField] = []

        /// The stream that follows the response; nil where the response can have no body.
        func stream(of response: Response) -> AsyncStream<[UInt8]>? {
            isHead || response.status.forbidsContent ? nil : response.stream
        }
    }

    static let continueResponse = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Appends the response.
    /// - Returns: its length in bytes.
    static func encode(
        _ response: Response, _ frame: Frame, into buffer: inout [UInt8]
    ) throws(InvalidHeader) -> Int {
        try validate(response)
        let before = buffer.count
        appendStatusLine(response.status, to: &buffer)
        for (name, value) in response.headers where !isReserved(name) {
            append(name, to: &buffer)
            append(": ", to: &buffer)
            append(value, to: &buffer)
            append("\r\n", to: &buffer)
        }
        for field in frame.common where !field.isSet(in: response) {
            buffer.append(contentsOf: field.line)
        }
        appendFraming(of: response, frame, to: &buffer)
        append("Date: ", to: &buffer)
        buffer.append(contentsOf: frame.date)
        append("\r\nX-Request-Id: ", to: &buffer)
        frame.id.forEachByte { buffer.append($0) }
        if !frame.keepsAlive {
            append("\r\nConnection: close", to: &buffer)
        } else if frame.minorVersion == 0 {
            append("\r\nConnection: keep-alive", to: &buffer)
        }
        append("\r\n\r\n", to: &buffer)
        if !frame.isHead, !response.status.forbidsContent {
            if response.stream != nil {
                appendPiece(response.body, frame, to: &buffer)
            } else {
                buffer.append(contentsOf: response.body)
            }
        }
        return buffer.count - before
    }

    /// The end of a body whose length was not known.
    static func endOfStream(_ frame: Frame) -> [UInt8] {
        frame.minorVersion == 0 ? [] : Array("0\r\n\r\n".utf8)
    }

    /// Appends a piece of such a body: a chunk (RFC 9112 §7.1), or the bare bytes for HTTP/1.0.
    static func appendPiece(_ piece: [UInt8], _ frame: Frame, to buffer: inout [UInt8]) {
        // A chunk of no bytes would end the body.
        guard !piece.isEmpty else { return }
        if frame.minorVersion > 0 {
            append(String(piece.count, radix: 16), to: &buffer)
            append("\r\n", to: &buffer)
        }
        buffer.append(contentsOf: piece)
        if frame.minorVersion > 0 { append("\r\n", to: &buffer) }
    }

    /// The field that says where the body ends. Without one it ends with the connection, which is
    /// all that HTTP/1.0 knows for a body of unknown length.
    private static func appendFraming(
        of response: Response, _ frame: Frame, to buffer: inout [UInt8]
    ) {
        guard !response.status.forbidsContent else { return }
        if response.stream == nil {
            append("Content-Length: ", to: &buffer)
            append(String(response.body.count), to: &buffer)
            append("\r\n", to: &buffer)
        } else if frame.minorVersion > 0 {
            append("Transfer-Encoding: chunked\r\n", to: &buffer)
        }
    }

    /// Checks every header.
    static func validate(_ response: Response) throws(InvalidHeader) {
        for (name, value) in response.headers { try check(name, value) }
    }

    fileprivate static func check(_ name: String, _ value: String) throws(InvalidHeader) {
        guard !name.isEmpty, name.utf8.allSatisfy(ASCII.isToken) else {
            throw InvalidHeader(name: nil)
        }
        guard ASCII.areFieldValue(value) else { throw InvalidHeader(name: name) }
    }

    /// Headers that the engine sets itself, so that a handler cannot contradict the framing.
    private static func isReserved(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: return ASCII.equalIgnoringCase(name, "Date")
        case 10:
            return ASCII.equalIgnoringCase(name, "Connection")
                || ASCII.equalIgnoringCase(name, "Keep-Alive")
        case 12: return ASCII.equalIgnoringCase(name, "X-Request-Id")
        case 14: return ASCII.equalIgnoringCase(name, "Content-Length")
        case 17: return ASCII.equalIgnoringCase(name, "Transfer-Encoding")
        default: return false
        }
    }

    private static func appendStatusLine(_ status: Status, to buffer: inout [UInt8]) {
        if status.code == 200 {
            append("HTTP/1.1 200 OK\r\n", to: &buffer)
            return
        }
        append("HTTP/1.1 ", to: &buffer)
        append(String(status.code), to: &buffer)
        append(" ", to: &buffer)
        append(status.reason, to: &buffer)
        append("\r\n", to: &buffer)
    }

    private static func append(_ text: String, to buffer: inout [UInt8]) {
        buffer.append(contentsOf: text.utf8)
    }
}

/// A header field of every response that does not have a field of this name itself.
struct CommonField: Sendable {
    private let name: String
    let line: [UInt8]

    /// An invalid name or value is a mistake of this program, and traps.
    init(_ name: String, _ value: String) {
        do throws(InvalidHeader) {
            try ResponseEncoder.check(name, value)
        } catch {
            preconditionFailure("\(error)")
        }
        self.name = name
        line = Array("\(name): \(value)\r\n".utf8)
    }

    func isSet(in response: Response) -> Bool {
        response.headers.contains { ASCII.equalIgnoringCase($0.0, name) }
    }
}
