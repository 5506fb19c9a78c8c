internal import StrictJSON

/// Why one call failed; the others of the request are made nevertheless (RFC 8620 §3.6.2).
public struct MethodError: Error, Equatable, Sendable {
    /// As in the RFCs, such as `invalidArguments`.
    public let type: String
    public let description: String?

    public init(_ type: String, _ description: String? = nil) {
        self.type = type
        self.description = description
    }

    public static func invalidArguments(_ description: String) -> MethodError {
        MethodError("invalidArguments", description)
    }

    static func invalidResultReference(_ description: String) -> MethodError {
        MethodError("invalidResultReference", description)
    }

    public static let unknownMethod = MethodError("unknownMethod")
    public static let accountNotFound = MethodError("accountNotFound")
    public static let stateMismatch = MethodError("stateMismatch")
    public static let cannotCalculateChanges = MethodError("cannotCalculateChanges")
    public static let anchorNotFound = MethodError("anchorNotFound")
    public static let requestTooLarge = MethodError("requestTooLarge")
    public static let serverFail = MethodError("serverFail")

    func response(to call: Invocation) -> Invocation {
        var members = [JSONObject.Member("type", .string(type))]
        if let description { members.append(.init("description", .string(description))) }
        return Invocation("error", JSONObject(members: members), callID: call.callID)
    }
}
