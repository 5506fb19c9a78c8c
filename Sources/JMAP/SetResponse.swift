internal import LocalMail
internal import StrictJSON

/// Why one object of a /set call was not created, changed or destroyed (RFC 8620 §5.3).
struct SetError: Error, Equatable {
    let type: String
    /// Besides `type`, such as `properties`.
    var members: [JSONObject.Member] = []

    init(_ type: String, _ members: [JSONObject.Member] = []) {
        self.type = type
        self.members = members
    }

    /// - Parameter names: each is reported once.
    static func invalidProperties(_ names: [String], _ description: String? = nil) -> SetError {
        var known: Set<String> = []
        let names = names.filter { known.insert($0).inserted }
        var members = [JSONObject.Member("properties", .strings(names))]
        if let description { members.append(.init("description", .string(description))) }
        return SetError("invalidProperties", members)
    }

    static func blobNotFound(_ ids: [String]) -> SetError {
        SetError("blobNotFound", [.init("notFound", .strings(ids))])
    }

    static func tooLarge(_ maxSize: Int) -> SetError {
        SetError("tooLarge", [.init("maxSize", .integer(Int64(maxSize)))])
    }

    static func invalidPatch(_ description: String) -> SetError {
        SetError("invalidPatch", [.init("description", .string(description))])
    }

    var value: JSONValue {
        .object(JSONObject(members: [.init("type", .string(type))] + members))
    }
}

extension SetError {
    init(_ error: EmailSetError) {
        switch error {
        case .invalidProperties(let names): self = .invalidProperties(names)
        case .blobNotFound(let id): self = .blobNotFound([id])
        case .tooLarge(let limit): self = .tooLarge(limit)
        case .forbidden, .notFound, .willDestroy, .tooManyKeywords, .overQuota:
            self.init(error.type)
        }
    }

    init(_ error: FolderSetError) {
        if case .invalidProperties(let names) = error {
            self = .invalidProperties(names)
        } else {
            self.init(error.type)
        }
    }

    init(_ error: SubmissionSetError) {
        switch error {
        case .invalidProperties(let names): self = .invalidProperties(names)
        case .invalidEmail(let names):
            self.init(error.type, [.init("properties", .strings(names))])
        case .tooManyRecipients(let limit):
            self.init(error.type, [.init("maxRecipients", .integer(Int64(limit)))])
        case .invalidRecipients(let addresses):
            self.init(error.type, [.init("invalidRecipients", .strings(addresses))])
        case .notFound, .noRecipients, .forbiddenMailFrom, .forbiddenToSend, .overQuota,
            .cannotUnsend, .serverUnavailable:
            self.init(error.type)
        }
    }

    init(_ error: UploadError) {
        switch error {
        case .tooLarge(let limit): self = .tooLarge(limit)
        case .overQuota: self.init("overQuota")
        }
    }
}

/// The response to a /set call while its objects are done one by one (RFC 8620 §5.3).
struct SetResponse {
    private var created: [JSONObject.Member] = []
    private var updated: [JSONObject.Member] = []
    private var destroyed: [String] = []
    private var notCreated: [JSONObject.Member] = []
    private var notUpdated: [JSONObject.Member] = []
    private var notDestroyed: [JSONObject.Member] = []

    mutating func create(_ creationID: String, _ object: Result<JSONValue, SetError>) {
        switch object {
        case .success(let object): created.append(.init(creationID, object))
        case .failure(let error): notCreated.append(.init(creationID, error.value))
        }
    }

    mutating func update(_ id: String, _ result: Result<Void, SetError>) {
        switch result {
        case .success: updated.append(.init(id, .null))
        case .failure(let error): notUpdated.append(.init(id, error.value))
        }
    }

    mutating func destroy(_ id: String, _ result: Result<Void, SetError>) {
        switch result {
        case .success: destroyed.append(id)
        case .failure(let error): notDestroyed.append(.init(id, error.value))
        }
    }

    /// - Parameter states: `nil` for what has none.
    func members(
        states: (old: String, new: String)?, in context: CallContext
    ) -> [JSONObject.Member] {
        var members: [JSONObject.Member] = [
            .init("accountId", .string(context.mail.account.id))
        ]
        if let states {
            members.append(.init("oldState", .string(states.old)))
            members.append(.init("newState", .string(states.new)))
        }
        return members + [
            .init("created", Self.object(created)), .init("updated", Self.object(updated)),
            .init("destroyed", destroyed.isEmpty ? .null : .strings(destroyed)),
            .init("notCreated", Self.object(notCreated)),
            .init("notUpdated", Self.object(notUpdated)),
            .init("notDestroyed", Self.object(notDestroyed)),
        ]
    }

    /// The members of the response of a method that only creates.
    func creationMembers(
        states: (old: String, new: String)?, in context: CallContext
    ) -> [JSONObject.Member] {
        members(states: states, in: context).filter {
            !["updated", "destroyed", "notUpdated", "notDestroyed"].contains($0.name)
        }
    }

    private static func object(_ members: [JSONObject.Member]) -> JSONValue {
        members.isEmpty ? .null : .object(JSONObject(members: members))
    }
}

/// The arguments that all /set methods have.
struct SetArguments {
    let ifInState: String?
    let create: [(id: String, value: JSONValue)]
    /// With the ids that creation ids stand for.
    let update: [(id: String, value: JSONValue)]
    let destroy: [String]

    static let names: Set<String> = ["accountId", "ifInState", "create", "update", "destroy"]

    init(_ arguments: Arguments, in context: CallContext) throws(MethodError) {
        ifInState = try arguments.string("ifInState")
        create = try arguments.objects("create")
        // Two names of one object would be two entries of the response.
        var known: Set<String> = []
        update = try arguments.objects("update").map { (context.id($0.id), $0.value) }
            .filter { known.insert($0.0).inserted }
        var doomed: Set<String> = []
        destroy = (try arguments.strings("destroy") ?? []).map(context.id)
            .filter { doomed.insert($0).inserted }
        guard create.count + update.count + destroy.count <= Arguments.maxObjects else {
            throw .requestTooLarge
        }
    }

    /// - Throws: ``MethodError/stateMismatch``.
    func checkState(_ state: String) throws(MethodError) {
        if let ifInState, ifInState != state { throw .stateMismatch }
    }
}
