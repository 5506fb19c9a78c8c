extension Syntax<Duration> {
    /// Seconds, fractions allowed, or text with a unit.
    static func duration(_ range: ClosedRange<Duration>) -> Syntax {
        Syntax(
            accepts: "a duration from \(range.lowerBound.withUnit) to \(range.upperBound.withUnit):"
                + " seconds (3, 0.5) or text with a unit (\"500ms\", \"3s\", \"10m\", \"1h\","
                + " \"7d\")",
            parse: { raw in
                let value: Duration?
                switch raw {
                case .integer(let seconds): value = Duration(decimal: String(seconds), unit: "s")
                case .number(let seconds): value = Duration(seconds: seconds)
                case .string(let text): value = Duration(text: text, unitRequired: true)
                case .untyped(let text): value = Duration(text: text, unitRequired: false)
                default: value = nil
                }
                return value.flatMap { range.contains($0) ? $0 : nil }
            },
            show: { "\"\($0.withUnit)\"" })
    }
}

extension Duration {
    /// In text, the longest unit that gives a whole number: `3m`, not `180s`.
    var withUnit: String {
        let milliseconds = self / .milliseconds(1)
        let whole = Int64(exactly: milliseconds.rounded()) ?? .max
        for (name, length) in Self.units where whole != 0 && whole % length == 0 {
            return "\(whole / length)\(name)"
        }
        return "\(whole / 1000)s"
    }

    /// Unit and its length in milliseconds, longest first.
    private static let units: [(name: String, length: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    fileprivate init?(text: String, unitRequired: Bool) {
        let split = text.firstIndex { $0.isASCII && $0.isLetter } ?? text.endIndex
        let unit = String(text[split...])
        if unit.isEmpty && unitRequired { return nil }
        self.init(decimal: String(text[..<split]), unit: unit.isEmpty ? "s" : unit)
    }

    /// - Parameter decimal: digits, at most one point with digits on both sides; no sign.
    fileprivate init?(decimal: String, unit: String) {
        guard let length = Self.units.first(where: { $0.name == unit })?.length else { return nil }
        let halves = decimal.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(halves.count),
            halves.allSatisfy({ half in
                (1...15).contains(half.utf8.count)
                    && half.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }), let value = Double(decimal)
        else { return nil }
        self.init(seconds: value * Double(length) / 1000)
    }

    /// - Returns: `nil` for what no duration here can be: negative, not a number, over 100 years.
    fileprivate init?(seconds: Double) {
        guard seconds >= 0, seconds <= 100 * 365 * 86_400 else { return nil }
        self = .milliseconds(Int64((seconds * 1000).rounded()))
    }
}
