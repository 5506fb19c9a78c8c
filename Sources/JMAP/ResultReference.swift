internal import StrictJSON

/// A value that is taken from the response to an earlier call of the same request (RFC 8620 §3.7).
struct ResultReference: Equatable {
    let resultOf: String
    let name: String
    let path: String

    /// Values that one path may select. `*` on arrays in arrays multiplies them.
    static let maxValues = 10_000

    init?(_ value: JSONValue) {
        guard let object = value.object, let resultOf = object["resultOf"]?.string,
            let name = object["name"]?.string, let path = object["path"]?.string
        else { return nil }
        self.resultOf = resultOf
        self.name = name
        self.path = path
    }

    /// - Parameter budget: the bytes that may be selected; reduced by those of the value.
    /// - Throws: ``MethodError/invalidResultReference(_:)``.
    func value(
        in responses: [Invocation], _ budget: inout Int
    ) throws(MethodError) -> JSONValue {
        guard let response = responses.first(where: { $0.callID == resultOf }) else {
            throw .invalidResultReference("No earlier call has the id `\(resultOf)`.")
        }
        guard response.name == name else {
            throw .invalidResultReference(
                "The response to `\(resultOf)` is `\(response.name)`, not `\(name)`.")
        }
        guard path.utf8.first == UInt8(ascii: "/") else {
            throw .invalidResultReference("`path` must begin with `/`.")
        }
        let steps = path.utf8.dropFirst()
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let selected = Self.value(at: steps[...], in: .object(response.arguments), &budget)
        if let selected { budget.spend(on: selected) }
        guard budget >= 0 else {
            throw .invalidResultReference("The references of this request select too many bytes.")
        }
        guard let found = selected else {
            throw .invalidResultReference("`\(path)` is not in the response to `\(resultOf)`.")
        }
        if case .array(let values) = found, values.count > Self.maxValues {
            throw .invalidResultReference("`\(path)` selects more than \(Self.maxValues) values.")
        }
        return found
    }

    /// A JSON pointer (RFC 6901), in which `*` stands for every element of an array. Elements that
    /// are looked at are paid for, too: there may be many of which nothing is selected.
    private static func value(
        at steps: ArraySlice<String>, in value: JSONValue, _ budget: inout Int
    ) -> JSONValue? {
        guard let step = steps.first else { return value }
        let rest = steps.dropFirst()
        switch value {
        case .object(let object):
            return object[JSONPointer.unescaped(step)].flatMap {
                Self.value(at: rest, in: $0, &budget)
            }
        case .array(let elements) where step == "*":
            var all: [JSONValue] = []
            for element in elements {
                budget -= 3
                guard budget >= 0, let found = Self.value(at: rest, in: element, &budget) else {
                    return nil
                }
                // An array in an array gives its elements.
                if case .array(let inner) = found { all += inner } else { all.append(found) }
                if all.count > maxValues { break }
            }
            return .array(all)
        case .array(let elements):
            guard let index = index(step), index < elements.count else { return nil }
            return Self.value(at: rest, in: elements[index], &budget)
        default: return nil
        }
    }

    /// A number without sign and without a zero before it.
    private static func index(_ text: String) -> Int? {
        let digits = text.utf8
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }), !digits.isEmpty,
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        return Int(text)
    }
}

/// Bytes that may still be spent.
extension Int {
    /// Subtracts about the bytes of the value as JSON, and stops below 0.
    mutating func spend(on value: JSONValue) {
        guard self >= 0 else { return }
        switch value {
        case .string(let text): self -= text.utf8.count + 3
        case .array(let elements):
            self -= 3
            for element in elements { spend(on: element) }
        case .object(let object):
            self -= 3
            for member in object.members {
                self -= member.name.utf8.count + 4
                spend(on: member.value)
            }
        default: self -= 6
        }
    }
}
