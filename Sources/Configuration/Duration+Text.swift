extension Duration {
    /// Each unit with its length in milliseconds, the longest first.
    private static let units: [(name: String, length: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// Text in the longest unit that gives a whole number: `3m`, not `180s`.
    public var withUnit: String {
        let milliseconds = self / .milliseconds(1)
        let whole = Int64(exactly: milliseconds.rounded()) ?? .max
        for (name, length) in Self.units where whole != 0 && whole % length == 0 {
            return "\(whole / length)\(name)"
        }
        return "\(whole / 1000)s"
    }

    /// Reads a number and its unit, such as `1.5h`. The number has digits and at most one point
    /// with digits on both sides, and no sign. Without a unit it counts seconds.
    public init?(text: String, unitRequired: Bool = false) {
        let split = text.firstIndex { $0.isASCII && $0.isLetter } ?? text.endIndex
        let unit = split == text.endIndex && !unitRequired ? "s" : String(text[split...])
        guard let length = Self.units.first(where: { $0.name == unit })?.length else { return nil }
        let number = text[..<split]
        let halves = number.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(halves.count),
            halves.allSatisfy({ half in
                (1...15).contains(half.utf8.count)
                    && half.utf8.allSatisfy { (0x30...0x39).contains($0) }
            }), let value = Double(number)
        else { return nil }
        self.init(decimalSeconds: value * Double(length) / 1000)
    }

    /// - Returns: `nil` for a negative number, NaN, and more than 100 years.
    init?(decimalSeconds seconds: Double) {
        guard seconds >= 0, seconds <= 100 * 365 * 86_400 else { return nil }
        self = .milliseconds(Int64((seconds * 1000).rounded()))
    }
}
