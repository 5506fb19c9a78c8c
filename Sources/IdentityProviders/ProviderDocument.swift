internal import StrictJSON

extension JSONObject {
    /// - Parameter name: what the document is, for the error.
    /// - Throws: ``ProviderError/invalid(_:)`` unless the bytes are one JSON object.
    init(_ document: [UInt8], of name: String) throws(ProviderError) {
        let value: JSONValue
        do {
            value = try JSONValue.parse(document)
        } catch {
            throw .invalid("\(name) is not JSON: \(error)")
        }
        guard case .object(let members) = value else {
            throw .invalid("\(name) is not a JSON object")
        }
        self = members
    }

    func string(_ name: String) -> String? { present(name)?.string }

    /// The strings of an array; `nil` unless there is one.
    func strings(_ name: String) -> [String]? {
        present(name)?.array.map { $0.compactMap(\.string) }
    }

    /// A `NumericDate` (RFC 7519 §2) in whole seconds since 1970; `nil` unless there is one that a
    /// clock can show.
    func date(_ name: String) -> Int64? {
        switch self[name] {
        case .integer(let seconds)? where (0...253_402_300_799).contains(seconds): seconds
        case .number(let seconds)? where (0...253_402_300_799).contains(seconds): Int64(seconds)
        default: nil
        }
    }

    /// The subject, the email, and whether that is verified (OpenID Connect Core §5.1). Some
    /// providers write `"true"`.
    func identity() throws(ProviderError) -> ProviderIdentity {
        guard let subject = string("sub"), subject.isSubject else {
            throw .invalid("there is no subject of 1 to \(ProviderLimits.subject) characters")
        }
        let isVerified =
            switch self["email_verified"] {
            case .bool(let value)?: value
            case .string("true")?: true
            default: false
            }
        return ProviderIdentity(
            subject: subject, email: string("email"), isEmailVerified: isVerified)
    }
}

extension String {
    /// Swift's `==` also finds canonically equivalent texts equal, such as the Kelvin sign and `K`.
    func hasBytes(of other: String) -> Bool { utf8.elementsEqual(other.utf8) }

    fileprivate var isSubject: Bool {
        (1...ProviderLimits.subject).contains(utf8.count)
            && utf8.allSatisfy { (0x20...0x7e).contains($0) }
    }
}
