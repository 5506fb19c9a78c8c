import Glibc
import MIME

/// The messages in Messages/, by name.
enum Samples {
    struct Missing: Error {}

    static let names = [
        "attachment", "broken", "calendar", "forwarded", "japanese", "list", "newsletter", "plain",
        "report",
    ]

    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = #filePath.dropLast("Samples.swift".count)
        let descriptor = open("\(folder)Messages/\(name).eml", O_RDONLY)
        guard descriptor >= 0 else { throw Missing() }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8_192)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            bytes += buffer[..<count]
        }
        return bytes
    }

    static func message(_ name: String) throws -> ParsedMessage {
        try ParsedMessage(bytes(name))
    }
}

/// A message of a text with LF as line breaks.
func message(_ text: String) throws -> ParsedMessage {
    try ParsedMessage(crlf(text))
}

func crlf(_ text: String) -> [UInt8] {
    Array(
        text.utf8.split(separator: 10, omittingEmptySubsequences: false).joined(separator: [13, 10])
    )
}

/// A field of the value.
func field(_ value: String) throws -> HeaderField {
    try field(Array(value.utf8))
}

func field(_ value: [UInt8]) throws -> HeaderField {
    let header = try HeaderFields(of: Array("X:".utf8) + value + [13, 10, 13, 10])
    guard let field = header.fields.first, header.fields.count == 1 else {
        throw Samples.Missing()
    }
    return field
}

/// A part and what is within it, e.g. `multipart/mixed(text/plain, image/png)`.
func outline(_ part: BodyPart) -> String {
    guard let parts = part.subParts else { return part.type }
    return "\(part.type)(\(parts.map(outline).joined(separator: ", ")))"
}
