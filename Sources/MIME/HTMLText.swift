/// The text of HTML, for previews: not a parser of HTML, and not fit to make HTML safe.
public enum HTMLText {
    /// Tags become spaces if they separate, and comments, styles and scripts are left out.
    public static func plain(_ html: String) -> String {
        var reader = HTMLReader(bytes: Array(html.utf8))
        return reader.read()
    }

    /// The value of an attribute with its references to characters decoded.
    static func attribute(_ value: String) -> String {
        var reader = HTMLReader(bytes: Array(value.utf8))
        return reader.readAttribute()
    }
}

private struct HTMLReader {
    let bytes: [UInt8]
    private var position = 0
    private var result: [UInt8] = []
    /// The names whose end was looked for in vain: no later one has an end.
    private var unclosed: Set<String> = []

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func read() -> String {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "<"): readTag()
            case UInt8(ascii: "&"): readEntity()
            default:
                result.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    mutating func readAttribute() -> String {
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "&") {
                // A URL may have `&copy=1`.
                readEntity(needsEnd: true)
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private mutating func readTag() {
        let rest = bytes[(position + 1)...]
        if rest.starts(with: "!--".utf8) {
            skipPast("-->", from: position + 4)
            return
        }
        guard let first = rest.first, isLetter(first) || "/!?".utf8.contains(first) else {
            // A less-than sign.
            result.append(bytes[position])
            position += 1
            return
        }
        let isEnd = first == UInt8(ascii: "/")
        let nameBytes = rest.dropFirst(isEnd ? 1 : 0)
            .prefix { isLetter($0) || (0x30...0x39).contains($0) }
        let name = ASCII.lowered(String(decoding: nameBytes, as: UTF8.self))
        skipTag()
        if !Self.inlineTags.contains(name) { result.append(ASCII.space) }
        if !isEnd, Self.hiddenTags.contains(name) { skipPast("</" + name, from: position) }
    }

    /// Skips to the end of a tag. A quoted attribute may have a greater-than sign.
    private mutating func skipTag() {
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = bytes[position - 2] == UInt8(ascii: "=") ? byte : nil
            } else if byte == UInt8(ascii: ">") {
                return
            }
        }
    }

    /// Skips over `text`, or to the end without one.
    private mutating func skipPast(_ text: String, from start: Int) {
        guard !unclosed.contains(text) else {
            position = bytes.count
            return
        }
        var start = min(start, bytes.count)
        while start < bytes.count {
            if bytes[start] == text.utf8.first,
                ASCII.equal(bytes[start...].prefix(text.utf8.count), text.utf8)
            {
                position = start + text.utf8.count
                if text.utf8.first == UInt8(ascii: "<") { skipTag() }
                return
            }
            start += 1
        }
        unclosed.insert(text)
        position = bytes.count
    }

    /// - Parameter needsEnd: whether a reference must end with `;`.
    private mutating func readEntity(needsEnd: Bool = false) {
        let name = bytes[(position + 1)...].prefix(10)
            .prefix { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "#") }
        let text = String(decoding: name, as: UTF8.self)
        let end = position + 1 + name.count
        let hasEnd = end < bytes.count && bytes[end] == UInt8(ascii: ";")
        guard let character = character(text), hasEnd || !needsEnd else {
            result.append(bytes[position])
            position += 1
            return
        }
        result += Array(String(character).utf8)
        position = hasEnd ? end + 1 : end
    }

    private func character(_ name: String) -> Unicode.Scalar? {
        guard name.utf8.first == UInt8(ascii: "#") else { return Self.entities[name] }
        let digits = name.utf8.dropFirst()
        let isHex = digits.first.map(ASCII.lowered) == UInt8(ascii: "x")
        let number = String(isHex ? digits.dropFirst() : digits) ?? ""
        guard let value = UInt32(number, radix: isHex ? 16 : 10), value > 0 else { return nil }
        return Unicode.Scalar(value)
    }

    private func isLetter(_ byte: UInt8) -> Bool { ASCII.lowered(byte) &- 0x61 < 26 }

    private static let hiddenTags: Set = ["script", "style", "head", "title", "template"]
    private static let inlineTags: Set = [
        "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "em", "font", "i", "ins", "kbd",
        "mark", "s", "samp", "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr",
    ]
    private static let entities: [String: Unicode.Scalar] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "shy": "\u{AD}",
        "copy": "©", "reg": "®", "trade": "™", "euro": "€", "pound": "£", "yen": "¥", "sect": "§",
        "hellip": "…", "mdash": "—", "ndash": "–", "middot": "·", "bull": "•", "laquo": "«",
        "raquo": "»", "lsquo": "‘", "rsquo": "’", "sbquo": "‚", "ldquo": "“", "rdquo": "”",
        "bdquo": "„", "times": "×", "deg": "°", "zwnj": "\u{200C}", "zwj": "\u{200D}",
        "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö", "Uuml": "Ü",
        "szlig": "ß", "agrave": "à", "aacute": "á", "acirc": "â", "atilde": "ã", "aring": "å",
        "aelig": "æ", "ccedil": "ç", "egrave": "è", "eacute": "é", "ecirc": "ê", "euml": "ë",
        "iacute": "í", "ntilde": "ñ", "oacute": "ó", "ocirc": "ô", "oslash": "ø", "uacute": "ú",
        "Eacute": "É", "Aring": "Å", "Oslash": "Ø",
    ]
}
