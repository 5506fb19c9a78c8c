internal import LocalMail
internal import StrictJSON

/// Mailbox/set (RFC 8621 §2.5).
enum MailboxSetMethod {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        ["Mailbox/set": .one(Capability.mail, set)]
    }

    @Sendable private static func set(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(SetArguments.names.union(["onDestroyRemoveEmails"]))
        try arguments.checkAccount(of: context)
        let given = try SetArguments(arguments, in: context)
        var set = FolderSet()
        set.ifInState = given.ifInState
        set.destroy = given.destroy
        set.removesEmails = try arguments.bool("onDestroyRemoveEmails")
        var response = SetResponse()
        for (creationID, value) in given.create {
            do throws(SetError) {
                set.create.append((creationID, try draft(value, in: context)))
            } catch {
                response.create(creationID, .failure(error))
            }
        }
        let folders = given.update.isEmpty ? [] : context.mail.folders().list
        let known = Dictionary(folders.map { ($0.id, $0) }) { first, _ in first }
        for (id, value) in given.update {
            do throws(SetError) {
                set.update.append((id, try patch(value, of: known[id], in: context)))
            } catch {
                response.update(id, .failure(error))
            }
        }
        let done: MailSetResult<MailFolder, FolderSetError>
        do throws(MailStateMismatch) {
            done = try context.mail.setFolders(set)
        } catch {
            throw .stateMismatch
        }
        report(done, of: given, to: &response, &context)
        return response.members(states: (done.oldState, done.newState), in: context)
    }

    private static func report(
        _ done: MailSetResult<MailFolder, FolderSetError>, of given: SetArguments,
        to response: inout SetResponse, _ context: inout CallContext
    ) {
        for (creationID, result) in done.created {
            if case .success(let folder) = result { context.created(creationID, as: folder.id) }
            let object = result.map(MailboxMethods.createdObject)
            response.create(creationID, object.mapError { SetError($0) })
        }
        for (id, result) in done.updated {
            response.update(context.id(id), result.mapError { SetError($0) })
        }
        for (id, result) in done.destroyed {
            response.destroy(context.id(id), result.mapError { SetError($0) })
        }
    }

    private static func draft(
        _ value: JSONValue, in context: CallContext
    ) throws(SetError) -> FolderDraft {
        guard let object = value.object else { throw .invalidProperties([]) }
        var draft = FolderDraft(name: "")
        var invalid: [String] = object["name"] == nil ? ["name"] : []
        for member in object.members {
            switch (member.name, member.value) {
            case ("name", .string(let name)): draft.name = name
            case ("parentId", .null), ("role", .null), ("sortOrder", .null),
                ("isSubscribed", .null):
                break
            case ("parentId", .string(let id)): draft.parentID = context.id(id)
            case ("sortOrder", .integer(let order)): draft.sortOrder = Int(clamping: order)
            case ("isSubscribed", .bool(let isSubscribed)): draft.isSubscribed = isSubscribed
            default: invalid.append(member.name)
            }
        }
        if !invalid.isEmpty { throw .invalidProperties(invalid) }
        return draft
    }

    /// - Parameter folder: `nil` for one that is unknown or created by the same call.
    private static func patch(
        _ value: JSONValue, of folder: MailFolder?, in context: CallContext
    ) throws(SetError) -> FolderPatch {
        var patch = FolderPatch()
        var invalid: [String] = []
        for (property, change) in try ObjectPatch(value).changes {
            guard case .whole(let value) = change else {
                // Only myRights is an object.
                throw property == "myRights"
                    ? .invalidProperties([property])
                    : .invalidPatch("`\(property)` has no members.")
            }
            switch (property, value) {
            case ("name", .string(let name)): patch.name = name
            case ("parentId", .null): patch.parent = .top
            case ("parentId", .string(let id)): patch.parent = .folder(context.id(id))
            case ("sortOrder", .null): patch.sortOrder = 0
            case ("sortOrder", .integer(let order)): patch.sortOrder = Int(clamping: order)
            case ("isSubscribed", .null): patch.isSubscribed = true
            case ("isSubscribed", .bool(let isSubscribed)): patch.isSubscribed = isSubscribed
            default:
                // RFC 8620 §5.3: what cannot be changed may be given as it is.
                let isSame = folder.map { MailboxMethods.object($0, [property])[property] == value }
                if isSame != true { invalid.append(property) }
            }
        }
        if !invalid.isEmpty { throw .invalidProperties(invalid) }
        return patch
    }
}
