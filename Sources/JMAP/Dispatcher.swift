public import LocalMail
internal import StrictJSON

/// Makes the calls of a request, one after the other.
public struct Dispatcher: Sendable {
    private let methods: [String: JMAPMethod]
    /// Arguments in which a nested reference object is resolved as well, though RFC 8620 has none:
    /// clients send them.
    private let nested: Set<String>
    /// Bytes that all references of a request may select. A reference may select the response to
    /// a reference, so without a limit each call could double what the one before gave.
    static let referencedBytes = 10_000_000
    /// Arguments of one call; no method has half as many.
    static let maxArguments = 64

    /// Every method of this server.
    public init() {
        self.init(methods: Self.methods, resolvingInFilters: ["inMailbox"])
    }

    /// - Parameters:
    ///   - methods: by name.
    ///   - nested: names of members below `filter` that may be references.
    init(methods: [String: JMAPMethod], resolvingInFilters nested: Set<String> = []) {
        self.methods = methods
        self.nested = nested
    }

    static var methods: [String: JMAPMethod] {
        let groups = [
            SmallMethods.all, MailboxMethods.all, MailboxSetMethod.all, EmailQueryMethods.all,
            EmailGetMethods.all, EmailSetMethods.all, SearchSnippetMethod.all,
            SubmissionMethods.all, SubmissionSetMethod.all, BlobMethods.all,
        ]
        return groups.reduce(into: [:]) { all, group in
            all.merge(group) { _, _ in preconditionFailure("two methods have one name") }
        }
    }

    /// Methods that change nothing, so that their calls can be made again, and that are quick
    /// unless they say otherwise (``CallContext/takesLong()``).
    private static let quick: Set = [
        "Core/echo", "Mailbox/get", "Mailbox/query", "Mailbox/changes", "Mailbox/queryChanges",
        "Thread/get", "Thread/changes", "Identity/get", "Identity/changes", "Email/get",
        "Email/changes", "Email/query", "EmailSubmission/get", "EmailSubmission/changes",
        "EmailSubmission/query",
    ]

    /// As ``respond(to:for:sessionState:)``, for an event loop.
    ///
    /// - Returns: `nil` where the calls take longer than a loop may be kept. Nothing has changed.
    public func respondBriefly(
        to request: JMAPRequest, for mail: AccountMail, sessionState: String
    ) async -> [UInt8]? {
        guard request.calls.allSatisfy({ Self.quick.contains($0.name) }) else { return nil }
        return await respond(to: request, for: mail, sessionState, isBrief: true)
    }

    /// The response object (RFC 8620 §3.4).
    public func respond(
        to request: JMAPRequest, for mail: AccountMail, sessionState: String
    ) async -> [UInt8] {
        let response = await respond(to: request, for: mail, sessionState, isBrief: false)
        guard let response else { preconditionFailure("only brief requests are aborted") }
        return response
    }

    private func respond(
        to request: JMAPRequest, for mail: AccountMail, _ sessionState: String, isBrief: Bool
    ) async -> [UInt8]? {
        var context = CallContext(
            mail: mail, createdIDs: request.createdIDs ?? [:], isBrief: isBrief)
        var responses: [Invocation] = []
        var budget = isBrief ? CallContext.briefBytes : Self.referencedBytes
        var briefBytes = CallContext.briefBytes
        for call in request.calls {
            do throws(MethodError) {
                guard let method = methods[call.name], request.using.contains(method.capability)
                else { throw .unknownMethod }
                let arguments = try resolve(call.arguments, with: responses, &budget)
                for response in try await method.call(Arguments(object: arguments), &context) {
                    if isBrief { briefBytes.spend(on: .object(response.arguments)) }
                    responses.append(
                        Invocation(
                            response.name ?? call.name, response.arguments, callID: call.callID))
                }
            } catch {
                if context.isAborted || isBrief && budget < 0 { return nil }
                responses.append(error.response(to: call))
            }
            if briefBytes < 0 { return nil }
        }
        return JSONWriter.object { body in
            body.member("methodResponses", value: .array(responses.map(\.value)))
            if request.createdIDs != nil {
                body.member("createdIds") { ids in
                    for (name, id) in context.createdIDs.sorted(by: { $0.key < $1.key }) {
                        ids.member(name, id)
                    }
                }
            }
            body.member("sessionState", sessionState)
        }
    }

    private func resolve(
        _ arguments: JSONObject, with responses: [Invocation], _ budget: inout Int
    ) throws(MethodError) -> JSONObject {
        guard arguments.members.count <= Self.maxArguments else {
            throw .invalidArguments("There are more than \(Self.maxArguments) arguments.")
        }
        var members: [JSONObject.Member] = []
        for member in arguments.members {
            if let name = member.name.afterNumberSign {
                guard arguments[name] == nil else {
                    throw .invalidArguments("`\(name)` and `#\(name)` are both given.")
                }
                guard let reference = ResultReference(member.value) else {
                    throw .invalidArguments("`#\(name)` must be a result reference.")
                }
                members.append(.init(name, try reference.value(in: responses, &budget)))
            } else if member.name == "filter", !nested.isEmpty {
                let filter = try resolve(filter: member.value, with: responses, &budget)
                members.append(.init("filter", filter))
            } else {
                members.append(member)
            }
        }
        return JSONObject(members: members)
    }

    private func resolve(
        filter: JSONValue, with responses: [Invocation], _ budget: inout Int
    ) throws(MethodError) -> JSONValue {
        switch filter {
        case .array(let conditions):
            var resolved: [JSONValue] = []
            for condition in conditions {
                resolved.append(try resolve(filter: condition, with: responses, &budget))
            }
            return .array(resolved)
        case .object(let object):
            var members: [JSONObject.Member] = []
            for member in object.members {
                if nested.contains(member.name), let reference = ResultReference(member.value) {
                    let value = try reference.value(in: responses, &budget)
                    members.append(.init(member.name, value))
                } else {
                    let value = try resolve(filter: member.value, with: responses, &budget)
                    members.append(.init(member.name, value))
                }
            }
            return .object(JSONObject(members: members))
        default: return filter
        }
    }
}
