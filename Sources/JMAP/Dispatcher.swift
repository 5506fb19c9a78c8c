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

    /// The response object (RFC 8620 §3.4).
    public func respond(
        to request: JMAPRequest, for mail: AccountMail, sessionState: String
    ) async -> [UInt8] {
        var context = CallContext(mail: mail, createdIDs: request.createdIDs ?? [:])
        var responses: [Invocation] = []
        var budget = Self.referencedBytes
        for call in request.calls {
            do throws(MethodError) {
                guard let method = methods[call.name], request.using.contains(method.capability)
                else { throw .unknownMethod }
                let arguments = try resolve(call.arguments, with: responses, &budget)
                for response in try await method.call(Arguments(object: arguments), &context) {
                    responses.append(
                        Invocation(
                            response.name ?? call.name, response.arguments, callID: call.callID))
                }
            } catch {
                responses.append(error.response(to: call))
            }
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
