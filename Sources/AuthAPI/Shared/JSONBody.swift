internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// The members of a JSON object that a request carries, with refusals that say what to mend.
struct JSONBody {
    private let members: JSONObject

    /// - Throws: ``Refusal/malformedRequest(_:)`` when it is not one JSON object.
    init(_ request: Request) throws(Refusal) {
        let value: JSONValue
        do {
            value = try JSONValue.parse(request.body)
        } catch {
            throw .malformedRequest("The body is not valid JSON: \(error).")
        }
        guard case .object(let members) = value else {
            throw .malformedRequest("The body must be a JSON object.")
        }
        self.members = members
    }

    private init(members: JSONObject) {
        self.members = members
    }

    /// A nested object, or `nil` when the member is absent or `null`.
    func object(_ name: String) throws(Refusal) -> JSONBody? {
        switch members.present(name) {
        case nil: return nil
        case .object(let members): return JSONBody(members: members)
        default: throw .malformedRequest("`\(name)` must be an object.")
        }
    }

    /// A string, or `nil` when the member is absent or `null`.
    func string(_ name: String) throws(Refusal) -> String? {
        switch members.present(name) {
        case nil: return nil
        case .string(let text): return text
        default: throw .malformedRequest("`\(name)` must be a string.")
        }
    }

    func requiredString(_ name: String) throws(Refusal) -> String {
        guard let text = try string(name) else {
            throw .malformedRequest("`\(name)` is missing.")
        }
        return text
    }

    /// A member as it came, `null` counting as absent.
    func value(_ name: String) -> JSONValue? { members.present(name) }
}

extension Request {
    /// - Throws: ``Refusal/unsupportedMediaType(expected:)`` when a `Content-Type` is given and is
    ///   not JSON. Parameters are ignored: JSON has none (RFC 8259 §11). A body without a type is
    ///   taken for what the endpoint expects.
    func requireJSON() throws(Refusal) {
        guard headers.mediaTypes.allSatisfy({ $0 == "application/json" }) else {
            throw .unsupportedMediaType(expected: "application/json")
        }
    }
}
