extension Unicode.Scalar {
    /// Whether a terminal only shows the character. Excluded are C0, DEL and C1, which control
    /// terminals, U+2028 and U+2029, which end lines for some readers, and the characters that
    /// change the direction of text, which make a line look like another one.
    public var isPrintable: Bool {
        switch value {
        case ..<0x20, 0x7f...0x9f, 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff:
            false
        default: true
        }
    }

    /// `\u` and four hex digits; every character that is not printable is below U+10000.
    public var escape: String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}

extension String {
    /// A text from another program, made safe to print on a terminal: characters that are not
    /// printable are escaped, and at most `limit` characters are kept.
    public func printable(limit: Int = 500) -> String {
        var out = ""
        for scalar in unicodeScalars.prefix(limit) {
            if scalar.isPrintable {
                out.unicodeScalars.append(scalar)
            } else {
                out += scalar.escape
            }
        }
        return unicodeScalars.count > limit ? out + "…" : out
    }
}
