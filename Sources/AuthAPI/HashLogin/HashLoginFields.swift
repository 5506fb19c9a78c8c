internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// What a request to the hash-login surface carries, from a form or from JSON.
struct HashLoginFields {
    private let values: [String: String]

    /// - Parameter isOptional: whether the endpoint can do without: an empty body then has no
    ///   fields, whatever its type.
    /// - Throws: ``Refusal/malformedRequest(_:)`` for a body that cannot be read, a field given
    ///   twice or of another type than text; ``Refusal/unsupportedMediaType(expected:)``;
    ///   ``Refusal/forbidden`` for what another site may have sent without asking: that is
    ///   everything but JSON that says it is.
    init(_ request: Request, isOptional: Bool = false) throws(Refusal) {
        if request.headers.mediaType != "application/json" { try request.requireOwnOrigin() }
        if isOptional && request.body.isEmpty {
            values = [:]
        } else if request.isJSON {
            values = try Self.members(of: request.body)
        } else {
            guard [nil, "application/x-www-form-urlencoded"].contains(request.headers.mediaType)
            else {
                throw .unsupportedMediaType(
                    expected: "application/json or application/x-www-form-urlencoded")
            }
            values = try Self.fields(of: request.body)
        }
    }

    /// The text of a field; empty and absent are told apart by nobody here.
    subscript(name: String) -> String? {
        values[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A password as the bytes that were sent.
    var password: [UInt8]? { self["password"].map { Array($0.utf8) } }

    private static let names = ["email", "password", "password_hash_url", "token"]

    private static func members(of body: [UInt8]) throws(Refusal) -> [String: String] {
        guard case .object(let members)? = try? JSONValue.parse(body) else { throw .unreadable }
        var values: [String: String] = [:]
        for name in names {
            switch members.present(name) {
            case nil: continue
            case .string(let text): values[name] = text
            default: throw .unreadable
            }
        }
        return values
    }

    private static func fields(of body: [UInt8]) throws(Refusal) -> [String: String] {
        var values: [String: String] = [:]
        for (name, value) in FormCoding.pairs(body) where names.contains(name) {
            // U+FFFD stands where octets were no UTF-8: what was meant is not known.
            guard values[name] == nil, !value.unicodeScalars.contains("\u{FFFD}") else {
                throw .unreadable
            }
            values[name] = value
        }
        return values
    }
}

extension Refusal {
    static let unreadable = Refusal.malformedRequest("The request body could not be read.")
}
