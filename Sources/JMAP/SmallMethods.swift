internal import LocalMail
internal import StrictJSON

/// Core/echo (RFC 8620 §4), Thread/get and changes (RFC 8621 §3), Identity/get and changes
/// (RFC 8621 §6).
enum SmallMethods {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        [
            "Core/echo": .one(Capability.core) { arguments, _ throws(MethodError) in
                arguments.object.members
            },
            "Thread/get": .one(Capability.mail, threads),
            "Thread/changes": .one(Capability.mail) { arguments, context throws(MethodError) in
                try StandardResponses.changes(of: .thread, arguments, in: context)
            },
            "Identity/get": .one(Capability.submission, identities),
            "Identity/changes": .one(Capability.submission) {
                arguments, context throws(MethodError) in
                try StandardResponses.changes(of: .identity, arguments, in: context)
            },
        ]
    }

    @Sendable private static func threads(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(["accountId", "ids", "properties"])
        try arguments.checkAccount(of: context)
        let wanted = try arguments.properties(of: ["id", "emailIds"])
        // RFC 8620 §5.1: all of them are too many.
        guard let ids = try arguments.ids("ids", in: context) else { throw .requestTooLarge }
        let (threads, state) = context.mail.threads(ids)
        let objects = threads.map { thread in
            let members: [JSONObject.Member] = [
                .init("id", .string(thread.id)), .init("emailIds", .strings(thread.emailIDs)),
            ]
            let kept = members.filter { wanted.contains($0.name) }
            return (id: thread.id, value: JSONValue.object(JSONObject(members: kept)))
        }
        return StandardResponses.get(objects, of: ids, state: state, in: context)
    }

    private static let identityProperties = [
        "id", "name", "email", "replyTo", "bcc", "textSignature", "htmlSignature", "mayDelete",
    ]

    @Sendable private static func identities(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(["accountId", "ids", "properties"])
        try arguments.checkAccount(of: context)
        let wanted = try arguments.properties(of: identityProperties)
        let ids = try arguments.ids("ids", in: context)
        let identity = context.mail.identity
        let members: [JSONObject.Member] = [
            .init("id", .string(identity.id)), .init("name", .string("")),
            .init("email", .string(identity.email)), .init("replyTo", .null), .init("bcc", .null),
            .init("textSignature", .string("")), .init("htmlSignature", .string("")),
            .init("mayDelete", .bool(false)),
        ]
        let kept = members.filter { wanted.contains($0.name) }
        let isAsked = ids?.contains(identity.id) ?? true
        return StandardResponses.get(
            isAsked ? [(identity.id, .object(JSONObject(members: kept)))] : [], of: ids,
            state: context.mail.states[.identity], in: context)
    }
}
