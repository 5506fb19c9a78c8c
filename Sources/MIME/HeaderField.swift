internal import CGMime

/// One field of a header, with the forms of RFC 8621 §4.1.2. GMime is loaded when one exists.
public struct HeaderField: Equatable, Sendable {
    /// As it is written in the message.
    public let name: String
    /// All between the colon and the line break that ends the field.
    public let rawBytes: [UInt8]

    /// GMime must be loaded.
    init(name: String, rawBytes: [UInt8]) {
        self.name = name
        self.rawBytes = rawBytes
    }

    public func isNamed(_ name: String) -> Bool { ASCII.equal(self.name.utf8, name.utf8) }

    /// The Raw form. Bytes that are not UTF-8 are U+FFFD.
    public var raw: String { String(decoding: rawBytes, as: UTF8.self) }

    /// The Text form: unfolded, with encoded words decoded and without control characters. Not
    /// brought to NFC, which would need Unicode's tables of Foundation.
    public var text: String {
        let unfolded = unfolded.drop(while: ASCII.isWhite)
        return ASCII.withoutControls(
            withCString(unfolded) { taken(postern_gmime_decode_text($0)) } ?? "")
    }

    /// The Date form; `nil` if the value is not a date.
    public var date: MessageDate? {
        withCString(unfolded[...]) { MessageDate(parsing: $0) }
    }

    /// The date that ends a Received field.
    var dateAfterSemicolon: MessageDate? {
        let value = unfolded
        guard let semicolon = value.lastIndex(of: UInt8(ascii: ";")) else { return nil }
        return withCString(value[(semicolon + 1)...]) { MessageDate(parsing: $0) }
    }

    /// The MessageIds form: without angle brackets; `nil` if there is none.
    public var messageIds: [String]? {
        // Some programs put commas between them, at which GMime would stop.
        var isInId = false
        let value = unfolded.map { byte in
            if byte == UInt8(ascii: "<") { isInId = true }
            if byte == UInt8(ascii: ">") { isInId = false }
            return byte == UInt8(ascii: ",") && !isInId ? ASCII.space : byte
        }
        let ids = withCString(value[...]) { value -> [String] in
            guard let list = postern_gmime_parse_ids(value) else { return [] }
            defer { postern_gmime_free_ids(list) }
            let count = min(
                Int(postern_gmime_count_ids(list)), MIMELimits.standard.listItems)
            return (0..<Int32(count)).compactMap { postern_gmime_id(list, $0) }
                .map { ASCII.withoutControls(String(cString: $0)) }
                .filter { !$0.isEmpty }
        }
        return ids.isEmpty ? nil : ids
    }

    /// The URLs form (RFC 2369 §2): what is in angle brackets, outside of comments; `nil` if there
    /// is none.
    public var urls: [String]? {
        var found: [String] = []
        var depth = 0
        var start: Int?
        let value = unfolded
        for (index, byte) in value.enumerated() where found.count < MIMELimits.standard.listItems {
            switch (byte, start) {
            case (UInt8(ascii: ">"), let first?):
                let url = value[first..<index].filter { !ASCII.isBlank($0) }
                if !url.isEmpty { found.append(String(decoding: url, as: UTF8.self)) }
                start = nil
            case (_, .some): break
            case (UInt8(ascii: "<"), nil) where depth == 0: start = index + 1
            case (UInt8(ascii: "("), nil): depth += 1
            case (UInt8(ascii: ")"), nil): depth = max(0, depth - 1)
            default: break
            }
        }
        return found.isEmpty ? nil : found
    }

    /// The GroupedAddresses form: mailboxes in a row outside of groups are a group without name.
    public var groupedAddresses: [AddressGroup] {
        AddressGroup.parse(unfolded)
    }

    /// The Addresses form: all mailboxes, in groups or not.
    public var addresses: [EmailAddress] { groupedAddresses.flatMap(\.addresses) }

    /// The value on one line, as GMime can read it. A NUL, which would end the text for GMime, and
    /// a line break that is not one of folding become spaces.
    var unfolded: [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(rawBytes.count)
        for (index, byte) in rawBytes.enumerated() {
            let next = index + 1 < rawBytes.count ? rawBytes[index + 1] : nil
            switch byte {
            case ASCII.lineFeed: break
            case ASCII.carriageReturn where next == ASCII.lineFeed: break
            case ASCII.carriageReturn, 0: result.append(ASCII.space)
            default: result.append(byte)
            }
        }
        return EncodedWords.withoutPadding(result)
    }
}

/// Calls `body` with the bytes as a text of C. They have no NUL.
func withCString<Result>(
    _ bytes: ArraySlice<UInt8>, _ body: (UnsafePointer<CChar>) -> Result
) -> Result {
    (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("a text without its NUL") }
        return body(base)
    }
}
