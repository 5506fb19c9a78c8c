internal import Platform

/// The value of a setting as its source wrote it, before the setting's syntax has read it.
public enum RawValue: Equatable, Sendable {
    /// From an option or a variable. These have no types, so the syntax of the setting decides.
    case untyped(String)
    case string(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case list([RawValue])
    case table([String: RawValue])
    /// A TOML type that no setting takes, by its name.
    case other(String)

    /// The value for a fault: as it was written, shortened, with control characters escaped.
    public var shown: String {
        switch self {
        case .untyped(let text), .string(let text): Self.quote(text)
        case .integer(let value): String(value)
        case .number(let value): String(value)
        case .boolean(let value): String(value)
        case .list(let values): "[" + values.map(\.shown).joined(separator: ", ") + "]"
        case .table(let fields):
            "{ "
                + fields.sorted { $0.key < $1.key }.map { "\($0) = \($1.shown)" }
                .joined(separator: ", ") + " }"
        case .other(let name): "a \(name)"
        }
    }

    /// A TOML basic string (TOML 1.0, "String") of at most 200 characters.
    static func quote(_ text: String) -> String {
        var out = "\""
        for scalar in text.unicodeScalars.prefix(200) {
            switch scalar {
            case "\"", "\\": out += "\\\(scalar)"
            case _ where !scalar.isPrintable: out += scalar.escape
            default: out.unicodeScalars.append(scalar)
            }
        }
        return out + (text.unicodeScalars.count > 200 ? "…\"" : "\"")
    }
}

/// The syntax of a setting's value: the accepted values in words, and how a value is read and
/// shown. `show(parse(x))` is a TOML value that parses to the same value again.
public struct Syntax<Value: Sendable>: Sendable {
    /// Completes "expected …" in a fault.
    public let accepts: String
    /// `nil` when the value is not accepted.
    public let parse: @Sendable (RawValue) -> Value?
    /// The value as TOML; `nil` when there is none.
    let show: @Sendable (Value) -> String?

    /// The same syntax for a setting that has no value until one is given.
    var optional: Syntax<Value?> {
        Syntax<Value?>(
            accepts: accepts,
            // With `parse(raw)` alone, a rejected value would become the accepted value `nil`.
            parse: { raw in parse(raw).map { value in .some(value) } },
            show: { $0.flatMap(show) })
    }

    /// A value that is written as a string.
    static func string(
        _ accepts: String, read: @escaping @Sendable (String) -> Value?,
        write: @escaping @Sendable (Value) -> String
    ) -> Syntax {
        Syntax(
            accepts: accepts,
            parse: { raw in
                switch raw {
                case .untyped(let text), .string(let text): read(text)
                default: nil
                }
            },
            show: { RawValue.quote(write($0)) })
    }

    /// Several values: a TOML array, or text with commas between them.
    static func list<Element: Sendable>(
        of element: Syntax<Element>, _ count: ClosedRange<Int>, accepts: String
    ) -> Syntax where Value == [Element] {
        Syntax(
            accepts: accepts,
            parse: { raw in
                let items: [RawValue]
                switch raw {
                case .list(let values): items = values
                case .untyped(""): items = []
                case .untyped(let text):
                    items = text.split(separator: ",", omittingEmptySubsequences: false)
                        .map { .untyped(String($0)) }
                default: return nil
                }
                let values = items.compactMap(element.parse)
                return values.count == items.count && count.contains(items.count) ? values : nil
            },
            show: { "[" + $0.compactMap(element.show).joined(separator: ", ") + "]" })
    }
}

extension Syntax where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the cases of the type, by its raw value.
    static var oneOf: Syntax {
        let names = Value.allCases.map { "\"\($0.rawValue)\"" }
        return .string(
            "one of " + names.joined(separator: ", "), read: { Value(rawValue: $0) },
            write: \.rawValue)
    }
}

extension Syntax<String> {
    /// Visible ASCII characters, within a length.
    static func visible(_ length: ClosedRange<Int>) -> Syntax {
        .string(
            "\(length.lowerBound) to \(length.upperBound) visible ASCII characters",
            read: { text in
                guard length.contains(text.utf8.count),
                    text.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
                else { return nil }
                return text
            }, write: { $0 })
    }

    /// A path of the file system.
    static let path = Syntax.string(
        "a path of 1 to 1,000 bytes without control characters",
        read: { text in
            guard (1...1000).contains(text.utf8.count),
                text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
            else { return nil }
            return text
        }, write: { $0 })
}

extension Syntax where Value: FixedWidthInteger {
    /// A whole number. Text must consist of digits only: Swift reads `Int("+5")` as 5, but in a
    /// configuration a sign is probably a mistake.
    public static func integer(_ range: ClosedRange<Int>) -> Syntax {
        Syntax(
            accepts: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            parse: { raw in
                let number: Int?
                switch raw {
                case .integer(let value): number = value
                case .untyped(let text) where text.utf8.allSatisfy { (0x30...0x39).contains($0) }:
                    number = Int(text)
                default: number = nil
                }
                return number.flatMap { range.contains($0) ? Value(exactly: $0) : nil }
            },
            show: { String($0) })
    }
}

extension Syntax<Bool> {
    static let boolean = Syntax(
        accepts: "true or false",
        parse: { raw in
            switch raw {
            case .boolean(let value): value
            case .untyped("true"): true
            case .untyped("false"): false
            default: nil
            }
        },
        show: { String($0) })
}

extension Syntax<Duration> {
    /// Seconds, also with a fraction, or text with a unit.
    public static func duration(_ range: ClosedRange<Duration>) -> Syntax {
        Syntax(
            accepts: "a duration from \(range.lowerBound.withUnit) to \(range.upperBound.withUnit):"
                + " seconds (3, 0.5) or text with a unit (\"500ms\", \"3s\", \"10m\", \"1h\","
                + " \"7d\")",
            parse: { raw in
                let value: Duration?
                switch raw {
                case .integer(let seconds): value = Duration(text: String(seconds))
                case .number(let seconds): value = Duration(decimalSeconds: seconds)
                case .string(let text): value = Duration(text: text, unitRequired: true)
                case .untyped(let text): value = Duration(text: text)
                default: value = nil
                }
                return value.flatMap { range.contains($0) ? $0 : nil }
            },
            show: { "\"\($0.withUnit)\"" })
    }
}
