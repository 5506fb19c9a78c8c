/// How the value of one setting is written: what is accepted, in words, and how it is read and
/// shown. `show(parse(x))` gives a TOML value that parses to the same again.
struct Syntax<Value: Sendable>: Sendable {
    /// Completes "expected …" in a fault.
    let accepts: String
    /// `nil` when the value is not accepted.
    let parse: @Sendable (RawValue) -> Value?
    /// The value as TOML; `nil` when it is unset.
    let show: @Sendable (Value) -> String?
}

extension Syntax {
    /// The same syntax for a setting that has no value until somebody gives one.
    var optional: Syntax<Value?> {
        Syntax<Value?>(accepts: accepts, parse: { parse($0) }, show: { $0.flatMap(show) })
    }

    /// A type that is written as a string and can read itself.
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
    /// One of the type's cases, by its raw value.
    static var oneOf: Syntax {
        let names = Value.allCases.map { "\"\($0.rawValue)\"" }
        return .string(
            "one of " + names.joined(separator: ", "), read: { Value(rawValue: $0) },
            write: \.rawValue)
    }
}

extension Syntax<String> {
    /// Text of visible ASCII, within a length.
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
}

extension Syntax<Int> {
    /// A whole number; from text, digits only.
    static func integer(_ range: ClosedRange<Int>) -> Syntax {
        Syntax(
            accepts: "a whole number from \(range.lowerBound) to \(range.upperBound)",
            parse: { raw in
                let value: Int?
                switch raw {
                case .integer(let number): value = number
                // Int("+5") is 5; a configuration that says so was not meant that way.
                case .untyped(let text) where text.utf8.allSatisfy { (0x30...0x39).contains($0) }:
                    value = Int(text)
                default: value = nil
                }
                return value.flatMap { range.contains($0) ? $0 : nil }
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
