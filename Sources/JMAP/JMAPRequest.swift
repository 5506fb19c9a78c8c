public import StrictJSON

/// A request: method calls that are made in their order (RFC 8620 §3.3).
public struct JMAPRequest: Sendable {
    public let using: Set<String>
    public let calls: [Invocation]
    /// The creation ids of earlier requests; `nil` if the client does not want them back.
    public let createdIDs: [String: String]?

    /// - Parameters:
    ///   - capabilities: those that the server has.
    ///   - maxCalls: `maxCallsInRequest` of the session object.
    public init(
        _ body: [UInt8], capabilities: Set<String>, maxCalls: Int
    ) throws(JMAPRequestError) {
        let value: JSONValue
        do {
            value = try JSONValue.parse(body)
        } catch {
            throw .notJSON("The body is not valid I-JSON: \(error).")
        }
        guard let request = value.object else {
            throw .notRequest("The body must be a JSON object.")
        }
        guard let using = request["using"]?.strings else {
            throw .notRequest("`using` must be an array of strings.")
        }
        guard let calls = request["methodCalls"]?.array else {
            throw .notRequest("`methodCalls` must be an array.")
        }
        guard calls.count <= maxCalls else { throw .limit("maxCallsInRequest") }
        self.using = Set(using)
        var invocations: [Invocation] = []
        for call in calls {
            guard let invocation = Invocation(call) else {
                throw .notRequest(
                    "Each method call must be an array: name, object of arguments, call id.")
            }
            invocations.append(invocation)
        }
        self.calls = invocations
        createdIDs = try Self.createdIDs(in: request)
        if let unknown = using.first(where: { !capabilities.contains($0) }) {
            throw .unknownCapability(unknown)
        }
    }

    private static func createdIDs(
        in request: JSONObject
    ) throws(JMAPRequestError) -> [String: String]? {
        guard let given = request.present("createdIds") else { return nil }
        guard let members = given.object?.members else {
            throw .notRequest("`createdIds` must be an object.")
        }
        var ids: [String: String] = [:]
        for member in members {
            guard let id = member.value.string else {
                throw .notRequest("Each value of `createdIds` must be an id.")
            }
            ids[member.name] = id
        }
        return ids
    }
}

/// A method call or its response (RFC 8620 §3.2).
public struct Invocation: Sendable, Equatable {
    public let name: String
    public let arguments: JSONObject
    public let callID: String

    public init(_ name: String, _ arguments: JSONObject, callID: String) {
        self.name = name
        self.arguments = arguments
        self.callID = callID
    }

    init?(_ value: JSONValue) {
        guard let parts = value.array, parts.count == 3, let name = parts[0].string,
            let arguments = parts[1].object, let callID = parts[2].string
        else { return nil }
        self.init(name, arguments, callID: callID)
    }

    var value: JSONValue { .array([.string(name), .object(arguments), .string(callID)]) }
}

/// Why none of a request's calls are made (RFC 8620 §3.6.1).
public enum JMAPRequestError: Error, Equatable, Sendable {
    case notJSON(String)
    case notRequest(String)
    case unknownCapability(String)
    /// The name of the limit, as in the session object.
    case limit(String)

    /// The value of `type` in the problem details (RFC 7807).
    public var type: String {
        let name =
            switch self {
            case .notJSON: "notJSON"
            case .notRequest: "notRequest"
            case .unknownCapability: "unknownCapability"
            case .limit: "limit"
            }
        return "urn:ietf:params:jmap:error:" + name
    }

    public var detail: String {
        switch self {
        case .notJSON(let detail), .notRequest(let detail): detail
        case .unknownCapability(let capability): "This server does not have \(capability)."
        case .limit(let name): "The request is beyond `\(name)` of the session object."
        }
    }
}

extension JSONValue {
    /// The elements, if all are strings.
    var strings: [String]? {
        guard let array else { return nil }
        let strings = array.compactMap(\.string)
        return strings.count == array.count ? strings : nil
    }
}
