internal import AuthCore
internal import HTTPEngine
internal import StrictJSON

/// The JSON object in the body of a request. Errors say which member is wrong and why.
struct JSONBody<Failure: FlowError> {
    private let members: JSONObject

    /// - Throws: ``CommonError/malformedRequest(_:)`` unless the body is one JSON object.
    init(_ request: Request) throws(Failure) {
        let value: JSONValue
        do {
            value = try JSONValue.parse(request.body)
        } catch {
            throw .malformed("The body is not valid JSON: \(error).")
        }
        guard case .object(let members) = value else {
            throw .malformed("The body must be a JSON object.")
        }
        self.members = members
    }

    private init(members: JSONObject) {
        self.members = members
    }

    /// The body of an endpoint that needs none: `nil` without one.
    /// - Throws: as ``init(_:)``. A body that cannot be read does not count as absent, because it
    ///   may have contained a restriction.
    static func optional(_ request: Request) throws(Failure) -> JSONBody? {
        request.body.isEmpty ? nil : try JSONBody(request)
    }

    /// The body of an endpoint that takes a list of objects.
    /// - Throws: ``CommonError/malformedRequest(_:)`` unless it has 1 to `limit` of them.
    static func list(
        _ request: Request, atMost limit: Int
    ) throws(Failure) -> [JSONBody] {
        guard case .array(let items)? = try? JSONValue.parse(request.body),
            (1...limit).contains(items.count)
        else { throw .malformed("The body must be a JSON array of 1 to \(limit) objects.") }
        return try objects(items, of: "the body")
    }

    private static func objects(
        _ items: [JSONValue], of place: String
    ) throws(Failure) -> [JSONBody] {
        var bodies: [JSONBody] = []
        for item in items {
            guard case .object(let members) = item else {
                throw .malformed("Each element of \(place) must be an object.")
            }
            bodies.append(JSONBody(members: members))
        }
        return bodies
    }

    /// A nested object, or `nil` when the member is absent or `null`.
    func object(_ name: String) throws(Failure) -> JSONBody? {
        switch members.present(name) {
        case nil: return nil
        case .object(let members): return JSONBody(members: members)
        default: throw .malformed("`\(name)` must be an object.")
        }
    }

    /// The objects of an array, or `nil` when the member is absent or `null`.
    func objects(_ name: String, atMost limit: Int) throws(Failure) -> [JSONBody]? {
        switch members.present(name) {
        case nil: return nil
        case .array(let items) where items.count <= limit:
            return try Self.objects(items, of: "`\(name)`")
        default: throw .malformed("`\(name)` must be an array of at most \(limit) objects.")
        }
    }

    /// A string, or `nil` when the member is absent or `null`.
    func string(_ name: String) throws(Failure) -> String? {
        switch members.present(name) {
        case nil: return nil
        case .string(let text): return text
        default: throw .malformed("`\(name)` must be a string.")
        }
    }

    func requiredString(_ name: String) throws(Failure) -> String {
        guard let text = try string(name) else {
            throw .malformed("`\(name)` is missing.")
        }
        return text
    }

    /// A Boolean, or `nil` when the member is absent or `null`.
    func bool(_ name: String) throws(Failure) -> Bool? {
        switch members.present(name) {
        case nil: return nil
        case .bool(let value): return value
        default: throw .malformed("`\(name)` must be true or false.")
        }
    }

    /// A member of any type, or `nil` when it is absent or `null`.
    func value(_ name: String) -> JSONValue? { members.present(name) }
}

extension FlowError {
    static func malformed(_ explanation: String) -> Self {
        .common(.malformedRequest(explanation))
    }
}
