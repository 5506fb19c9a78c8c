extension Unicode.Scalar {
    /// Whether a terminal shows it and does nothing else. C0, DEL and C1 steer terminals; U+2028
    /// and U+2029 end lines for some readers; the directional ones make a line read as another.
    var isHarmless: Bool {
        switch value {
        case ..<0x20, 0x7f...0x9f, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff: false
        default: true
        }
    }

    /// `\u` and four hex digits (what is not harmless lies below U+FFFF).
    var escape: String {
        let digits = String(value, radix: 16)
        return "\\u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }
}

extension String {
    /// For a terminal: somebody else's text, what could steer it escaped, at most `limit` long.
    func printable(limit: Int = 500) -> String {
        var out = ""
        for scalar in unicodeScalars.prefix(limit) {
            if scalar.isHarmless {
                out.unicodeScalars.append(scalar)
            } else {
                out += scalar.escape
            }
        }
        return unicodeScalars.count > limit ? out + "…" : out
    }
}
