internal import LocalMail
internal import MIME
internal import StrictJSON

/// Email/set and import (RFC 8621 §4.6 and §4.8).
enum EmailSetMethods {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        [
            "Email/set": .one(Capability.mail, set),
            "Email/import": .one(Capability.mail, importMessages),
        ]
    }

    @Sendable private static func set(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(SetArguments.names)
        try arguments.checkAccount(of: context)
        return try set(try SetArguments(arguments, in: context), &context)
    }

    /// Does what a call, or the success of a submission, asks for.
    static func set(
        _ given: SetArguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        // Before messages are written, which takes long.
        try given.checkState(context.mail.states[.email])
        var set = EmailSet()
        set.ifInState = given.ifInState
        set.destroy = given.destroy
        var response = SetResponse()
        var drafts = DraftedEmails(context.mail)
        for (creationID, value) in given.create {
            do throws(SetError) {
                set.create.append((creationID, try drafts.draft(value, in: &context)))
            } catch {
                response.create(creationID, .failure(error))
            }
        }
        for (id, value) in given.update {
            do throws(SetError) {
                set.update.append((id, try patch(value, of: id, in: &context)))
            } catch {
                response.update(id, .failure(error))
            }
        }
        let states = try apply(set, to: &response, &context)
        return response.members(states: states, in: context)
    }

    private static func apply(
        _ set: EmailSet, to response: inout SetResponse, _ context: inout CallContext
    ) throws(MethodError) -> (old: String, new: String) {
        let done: MailSetResult<CreatedEmail, EmailSetError>
        do throws(MailStateMismatch) {
            done = try context.mail.setEmails(set)
        } catch {
            throw .stateMismatch
        }
        for (creationID, result) in done.created {
            if case .success(let email) = result { context.created(creationID, as: email.id) }
            response.create(creationID, result.map(\.value).mapError { SetError($0) })
        }
        for (id, result) in done.updated {
            response.update(context.id(id), result.mapError { SetError($0) })
        }
        for (id, result) in done.destroyed {
            response.destroy(context.id(id), result.mapError { SetError($0) })
        }
        return (done.oldState, done.newState)
    }

    // MARK: Patches

    private static func patch(
        _ value: JSONValue, of id: String, in context: inout CallContext
    ) throws(SetError) -> EmailPatch {
        var patch = EmailPatch()
        var others: [(property: String, value: JSONValue)] = []
        for (property, change) in try ObjectPatch(value).changes {
            switch (property, change) {
            case ("keywords", _): patch.keywords = try members(change, of: property) { $0 }
            case ("mailboxIds", _):
                let context = context
                patch.folderIDs = try members(change, of: property) { context.id($0) }
            case (_, .whole(let value)): others.append((property, value))
            case (_, .members): throw .invalidProperties([property])
            }
        }
        let changed = others.isEmpty ? [] : try changes(of: id, to: others, &context)
        if !changed.isEmpty { throw .invalidProperties(changed) }
        return patch
    }

    private static func members(
        _ change: ObjectPatch.Change, of property: String, _ name: (String) -> String
    ) throws(SetError) -> EmailPatch.Members {
        switch change {
        case .whole(.null) where property == "keywords": return .replace([])
        case .whole(let value):
            guard let names = value.trueNames else { throw .invalidProperties([property]) }
            return .replace(names.map(name))
        case .members(let members):
            var changes: [String: Bool] = [:]
            for member in members {
                switch member.value {
                case .bool(true): changes[name(member.name)] = true
                case .null: changes[name(member.name)] = false
                default: throw .invalidProperties(["\(property)/\(member.name)"])
                }
            }
            return .patch(changes)
        }
    }

    /// RFC 8620 §5.3: what cannot be changed may be given as it is.
    /// - Returns: the properties that are given otherwise.
    private static func changes(
        of id: String, to others: [(property: String, value: JSONValue)],
        _ context: inout CallContext
    ) throws(SetError) -> [String] {
        guard let email = context.mail.emails([id]).list.first else { throw SetError("notFound") }
        do throws(MethodError) {
            let wanted = Arguments(
                object: JSONObject(members: [
                    .init("properties", .strings(others.map(\.property)))
                ]))
            let properties = try EmailProperties(wanted, defaults: [], alwaysID: false)
            let now = try EmailGetMethods.object(email, properties, &context).object
            return others.filter { now?[$0.property] != $0.value }.map(\.property)
        } catch {
            // One of them is no property, or there is too much to read.
            return others.map(\.property)
        }
    }

    // MARK: Import

    @Sendable private static func importMessages(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(["accountId", "ifInState", "emails"])
        try arguments.checkAccount(of: context)
        guard arguments.object.present("emails") != nil else {
            throw .invalidArguments("`emails` is missing.")
        }
        let emails = try arguments.objects("emails")
        guard emails.count <= Arguments.maxObjects else { throw .requestTooLarge }
        var set = EmailSet()
        set.ifInState = try arguments.string("ifInState")
        var response = SetResponse()
        var reader = BlobReader(context.mail)
        for (creationID, value) in emails {
            let draft = try importedDraft(value, by: &reader, &context)
            do throws(SetError) {
                set.create.append((creationID, try draft.get()))
            } catch {
                response.create(creationID, .failure(error))
            }
        }
        let states = try apply(set, to: &response, &context)
        return response.creationMembers(states: states, in: context)
    }

    /// RFC 8621 §4.8: an EmailImport.
    private static func importedDraft(
        _ value: JSONValue, by reader: inout BlobReader, _ context: inout CallContext
    ) throws(MethodError) -> Result<EmailDraft, SetError> {
        guard let object = value.object else { return .failure(.invalidProperties([])) }
        let known: Set = ["blobId", "mailboxIds", "keywords", "receivedAt"]
        var invalid = object.members.map(\.name).filter { !known.contains($0) }
        let blob: MailBlob?
        if let id = object["blobId"]?.string {
            blob = try context.blob(context.id(id), by: &reader)
        } else {
            blob = nil
        }
        if blob == nil { invalid.append("blobId") }
        let folders = object["mailboxIds"]?.trueNames.map { $0.map(context.id) }
        if folders == nil { invalid.append("mailboxIds") }
        var keywords: [String]? = []
        if let value = object.present("keywords") { keywords = value.trueNames }
        if keywords == nil { invalid.append("keywords") }
        var receivedAt: MailInstant?
        if let value = object.present("receivedAt") {
            receivedAt = value.string.flatMap(MailInstant.init(utcDate:))
            if receivedAt == nil { invalid.append("receivedAt") }
        }
        guard let blob, let folders, let keywords, invalid.isEmpty else {
            return .failure(.invalidProperties(invalid))
        }
        let header = header(of: blob)
        if header.map(\.fields.isEmpty) ?? true { return .failure(SetError("invalidEmail")) }
        let received = header?.receivedAt.map { MailInstant(milliseconds: $0.seconds * 1000) }
        // The engine knows whole blobs, and shares their bytes.
        let isPart = context.mail.blob(blob.id) == nil
        return .success(
            EmailDraft(
                isPart ? .bytes(blob.bytes) : .blob(blob.id), folderIDs: folders,
                keywords: keywords, receivedAt: receivedAt ?? received))
    }

    private static func header(of blob: MailBlob) -> HeaderFields? {
        do throws(MIMEError) {
            return try HeaderFields(of: blob.bytes)
        } catch {
            // Without GMime no message can be read.
            return nil
        }
    }
}

extension CreatedEmail {
    fileprivate var value: JSONValue {
        .object(
            JSONObject(members: [
                .init("id", .string(id)), .init("blobId", .string(blobID)),
                .init("threadId", .string(threadID)), .init("size", .integer(Int64(size))),
            ]))
    }
}
