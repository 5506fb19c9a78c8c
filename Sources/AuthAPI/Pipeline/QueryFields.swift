internal import AuthCore
internal import HTTPEngine

/// The fields of a query string. Errors say which one is wrong and why.
struct QueryFields<Failure: FlowError> {
    private let pairs: [(name: String, value: String)]

    init(_ request: Request) {
        pairs = request.query
    }

    /// - Returns: `nil` when the field is absent or empty.
    /// - Throws: ``CommonError/malformedRequest(_:)`` for a field given twice.
    func text(_ name: String) throws(Failure) -> String? {
        let values = pairs.filter { $0.name == name }
        guard values.count <= 1 else { throw .malformed("`\(name)` is given twice.") }
        return values.first.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// A number in decimal digits.
    /// - Throws: ``CommonError/malformedRequest(_:)`` for every other text, and for a number out of
    ///   the range.
    func number(
        _ name: String, in range: ClosedRange<Int>, default absent: Int
    ) throws(Failure) -> Int {
        guard let text = try text(name) else { return absent }
        // `Int` also takes a sign.
        let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isDecimal, let number = Int(text), range.contains(number) else {
            throw .malformed(
                "`\(name)` must be a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
