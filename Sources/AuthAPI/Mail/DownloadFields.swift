/// The header fields of a response with bytes that others wrote.
///
/// A browser saves them and never shows them on the origin of this server: a page or a script in a
/// message could use the session of its reader.
enum DownloadFields {
    /// - Parameters:
    ///   - type: a media type that ``MediaType`` allows.
    ///   - filename: as ``SafeFilename`` gives it.
    static func all(type: String, filename: String) -> [(String, String)] {
        [
            ("Content-Type", type),
            ("Content-Disposition", SafeFilename.attachment(filename)),
            ("X-Content-Type-Options", "nosniff"),
            ("Content-Security-Policy", "sandbox; default-src 'none'"),
        ]
    }
}

/// Media types of downloads.
enum MediaType {
    static let unknown = "application/octet-stream"

    /// Types of attachments that are sent as they are: no browser runs them.
    private static let harmless: Set = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "text/plain", "text/csv",
        "text/calendar", "application/pdf", "application/zip", "application/json", "audio/mpeg",
        "video/mp4", "message/rfc822",
    ]

    /// Words in the types of documents and scripts that a browser runs, and of what such a document
    /// may load.
    private static let active = [
        "html", "/xml", "+xml", "svg", "script", "xsl", "css", "wasm", "manifest", "multipart/",
    ]

    /// The type of an attachment, if it is harmless, without parameters.
    /// - Parameter type: in lower case.
    static func ofAttachment(_ type: String) -> String {
        harmless.contains(type) ? type : unknown
    }

    /// The type that a client asked for, in lower case, if it is one (RFC 6838 §4.2) and no browser
    /// runs it.
    static func requested(_ type: String) -> String {
        guard let name = name(type), !active.contains(where: name.contains) else { return unknown }
        return name
    }

    /// - Returns: `nil` for a text that is not a type and a subtype.
    static func name(_ type: String) -> String? {
        let parts = type.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ isRestrictedName($0) }) else { return nil }
        return type.lowercased()
    }

    private static func isRestrictedName(_ text: Substring.UTF8View) -> Bool {
        guard (1...127).contains(text.count), let first = text.first, isAlphanumeric(first) else {
            return false
        }
        return text.allSatisfy { isAlphanumeric($0) || "!#$&-^_.+".utf8.contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

/// The name under which a download is saved.
enum SafeFilename {
    /// Scalars of a name. Percent-coded it is twelve times as long at most, which fits in a header
    /// field.
    private static let maxLength = 150

    /// The name without what leads to another folder, hides what the file is, or is not allowed in
    /// the names of files somewhere.
    static func make(_ name: String?, fallback: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in (name ?? "").unicodeScalars.prefix(maxLength) {
            switch scalar {
            case "/", "\\", ":", "*", "?", "\"", "<", ">", "|": scalars.append("_")
            // Controls, and the characters that change the direction of the text after them.
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{61C}", "\u{200E}", "\u{200F}",
                "\u{2028}", "\u{2029}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}",
                "\u{FEFF}":
                continue
            default: scalars.append(scalar)
            }
        }
        // A name that begins with a dot is hidden; Windows drops dots and spaces at the end.
        let isOuter = { (scalar: Unicode.Scalar) in scalar == "." || scalar == " " }
        let begun = scalars.drop(while: isOuter)
        let end = begun.lastIndex { !isOuter($0) }
        guard let end else { return fallback }
        return String(String.UnicodeScalarView(begun[...end]))
    }

    /// The value of `Content-Disposition` (RFC 6266 §4.3): the name in ASCII for old clients, and
    /// as RFC 8187 has it.
    static func attachment(_ name: String) -> String {
        var plain = ""
        for scalar in name.unicodeScalars {
            let isPlain = scalar.isASCII && scalar.value >= 0x20 && scalar != "\"" && scalar != "\\"
            plain.unicodeScalars.append(isPlain ? scalar : "_")
        }
        return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(coded(name))"
    }

    /// RFC 8187 §3.2.1: every byte but attr-char is percent-coded.
    private static func coded(_ name: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: bytes.append(byte)
            case _ where "!#$&+-.^_`|~".utf8.contains(byte): bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
