internal import LocalMail
internal import StrictJSON

/// EmailSubmission/set (RFC 8621 §7.5). What is sent is sent at once, so all submissions are final.
enum SubmissionSetMethod {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        ["EmailSubmission/set": JMAPMethod(Capability.submission, set)]
    }

    @Sendable private static func set(
        _ arguments: Arguments, _ context: inout CallContext
    ) async throws(MethodError) -> [JMAPMethod.Response] {
        try arguments.check(
            SetArguments.names.union(["onSuccessUpdateEmail", "onSuccessDestroyEmail"]))
        try arguments.checkAccount(of: context)
        let given = try SetArguments(arguments, in: context)
        let onSuccess = try OnSuccess(arguments)
        let old = context.mail.states[.submission]
        try given.checkState(old)
        var response = SetResponse()
        // The messages of the submissions that succeeded, by id, before they may be gone.
        let known = context.mail.submissions().list
        var emails: [String: String] = [:]
        for (creationID, value) in given.create {
            do throws(SetError) {
                let submission = try await submit(value, in: context)
                context.created(creationID, as: submission.id)
                emails[submission.id] = submission.emailID
                response.create(
                    creationID, .success(SubmissionMethods.createdObject(submission)))
            } catch {
                response.create(creationID, .failure(error))
            }
        }
        let byID = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
        for (id, value) in given.update {
            let isDoomed = given.destroy.contains(id)
            let result = Result { () throws(SetError) in
                guard let submission = byID[id] else { throw SetError("notFound") }
                if isDoomed { throw SetError("willDestroy") }
                try check(value, of: submission)
                emails[id] = submission.emailID
            }
            response.update(id, result)
        }
        for (id, isDone) in zip(given.destroy, context.mail.destroySubmissions(given.destroy)) {
            if isDone { emails[id] = emails[id] ?? byID[id]?.emailID }
            response.destroy(id, isDone ? .success(()) : .failure(SetError("notFound")))
        }
        let states = (old, context.mail.states[.submission])
        var responses = [JMAPMethod.Response(response.members(states: states, in: context))]
        if let onSuccess {
            let set = try onSuccess.changes(emails: emails, in: context)
            responses.append(.init(try EmailSetMethods.set(set, &context), of: "Email/set"))
        }
        return responses
    }

    private static func submit(
        _ value: JSONValue, in context: CallContext
    ) async throws(SetError) -> MailSubmission {
        guard let object = value.object else { throw .invalidProperties([]) }
        var draft = SubmissionDraft(emailID: "")
        var invalid: [String] = object["emailId"] == nil ? ["emailId"] : []
        for member in object.members {
            switch (member.name, member.value) {
            case ("emailId", .string(let id)): draft.emailID = context.id(id)
            // The account's only identity.
            case ("identityId", .null), ("envelope", .null): break
            case ("identityId", .string(let id)): draft.identityID = context.id(id)
            case ("envelope", let value):
                draft.envelope = MailEnvelope(value)
                if draft.envelope == nil { invalid.append(member.name) }
            default: invalid.append(member.name)
            }
        }
        if !invalid.isEmpty { throw .invalidProperties(invalid) }
        do throws(SubmissionSetError) {
            return try await context.mail.submit(draft)
        } catch {
            throw SetError(error)
        }
    }

    /// Nothing can be changed. What is given as it is changes nothing.
    private static func check(
        _ value: JSONValue, of submission: MailSubmission
    ) throws(SetError) {
        var invalid: [String] = []
        for (property, change) in try ObjectPatch(value).changes {
            let now = SubmissionMethods.object(submission, [property])[property]
            if now != nil, change == now.map(ObjectPatch.Change.whole) { continue }
            if property == "undoStatus", change == .whole(.string("canceled")) {
                throw SetError(.cannotUnsend)
            }
            invalid.append(property)
        }
        if !invalid.isEmpty { throw .invalidProperties(invalid) }
    }
}

/// What to do with the messages of the submissions that succeed.
private struct OnSuccess {
    private let update: [(id: String, value: JSONValue)]
    private let destroy: [String]

    /// - Returns: `nil` where nothing is to be done.
    init?(_ arguments: Arguments) throws(MethodError) {
        update = try arguments.objects("onSuccessUpdateEmail")
        destroy = try arguments.strings("onSuccessDestroyEmail") ?? []
        let isGiven = ["onSuccessUpdateEmail", "onSuccessDestroyEmail"]
            .contains { arguments.object.present($0) != nil }
        guard isGiven else { return nil }
        guard update.count + destroy.count <= Arguments.maxObjects else { throw .requestTooLarge }
    }

    /// - Parameter emails: by the submissions that succeeded.
    func changes(
        emails: [String: String], in context: CallContext
    ) throws(MethodError) -> SetArguments {
        let update = update.compactMap { patch in
            emails[context.id(patch.id)].map { JSONObject.Member($0, patch.value) }
        }
        let destroy = destroy.compactMap { emails[context.id($0)] }
        return try SetArguments(
            Arguments(
                object: JSONObject(members: [
                    .init("update", .object(JSONObject(members: update))),
                    .init("destroy", .strings(destroy)),
                ])), in: context)
    }
}

extension MailEnvelope {
    /// An Envelope. There are no parameters, because the server has no extension of SMTP that takes
    /// one.
    fileprivate init?(_ value: JSONValue) {
        guard let object = value.object, object.members.count == 2,
            let sender = object["mailFrom"].flatMap(Self.address),
            let recipients = object["rcptTo"]?.array
        else { return nil }
        let addresses = recipients.compactMap(Self.address)
        guard addresses.count == recipients.count else { return nil }
        self.init(mailFrom: sender, recipients: addresses)
    }

    private static func address(_ value: JSONValue) -> String? {
        guard let object = value.object,
            object.members.allSatisfy({ ["email", "parameters"].contains($0.name) }),
            object.present("parameters").map({ $0.object?.members.isEmpty == true }) ?? true
        else { return nil }
        return object["email"]?.string
    }
}
