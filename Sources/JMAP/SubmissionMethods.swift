internal import LocalMail
internal import StrictJSON

/// EmailSubmission/get, changes and query (RFC 8621 §7).
enum SubmissionMethods {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        [
            "EmailSubmission/get": .one(Capability.submission, get),
            "EmailSubmission/changes": .one(Capability.submission) {
                arguments, context throws(MethodError) in
                try StandardResponses.changes(of: .submission, arguments, in: context)
            },
            "EmailSubmission/query": .one(Capability.submission, query),
        ]
    }

    private static let properties = [
        "id", "identityId", "emailId", "threadId", "envelope", "sendAt", "undoStatus",
        "deliveryStatus", "dsnBlobIds", "mdnBlobIds",
    ]

    @Sendable private static func get(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(["accountId", "ids", "properties"])
        try arguments.checkAccount(of: context)
        let ids = try arguments.ids("ids", in: context)
        let wanted = try arguments.properties(of: properties)
        try context.looks(at: context.mail.counts.submissions)
        let (all, state) = context.mail.submissions()
        guard ids != nil || all.count <= Arguments.maxObjects else { throw .requestTooLarge }
        let asked = ids.map(Set.init)
        var objects: [(id: String, value: JSONValue)] = []
        for submission in all where asked?.contains(submission.id) ?? true {
            let value = JSONValue.object(object(submission, wanted))
            try context.returns(value)
            objects.append((submission.id, value))
        }
        return StandardResponses.get(objects, of: ids, state: state, in: context)
    }

    /// What the server adds to a submission that a client creates.
    static func createdObject(_ submission: MailSubmission) -> JSONValue {
        .object(object(submission, Set(properties)))
    }

    static func object(_ submission: MailSubmission, _ wanted: Set<String>) -> JSONObject {
        JSONObject(
            members: properties.filter(wanted.contains).map {
                .init($0, value(of: $0, in: submission))
            })
    }

    private static func value(of name: String, in submission: MailSubmission) -> JSONValue {
        switch name {
        case "id": .string(submission.id)
        case "identityId": .string(submission.identityID)
        case "emailId": .string(submission.emailID)
        case "threadId": .string(submission.threadID)
        case "envelope":
            .object(
                JSONObject(members: [
                    .init("mailFrom", address(submission.envelope.mailFrom)),
                    .init("rcptTo", .array(submission.envelope.recipients.map(address))),
                ]))
        case "sendAt": .string(submission.sentAt.utcDate)
        case "undoStatus": .string("final")
        case "deliveryStatus":
            .object(JSONObject(members: submission.deliveryStatus.map(member)))
        // "dsnBlobIds" and "mdnBlobIds".
        default: .array([])
        }
    }

    private static func member(_ status: RecipientStatus) -> JSONObject.Member {
        .init(
            status.address,
            .object(
                JSONObject(members: [
                    .init("smtpReply", .string(status.smtpReply)),
                    .init("delivered", .string(status.delivered.rawValue)),
                    .init("displayed", .string("unknown")),
                ])))
    }

    private static func address(_ email: String) -> JSONValue {
        .object(JSONObject(members: [.init("email", .string(email)), .init("parameters", .null)]))
    }

    // MARK: Query

    @Sendable private static func query(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(StandardResponses.windowArguments)
        try arguments.checkAccount(of: context)
        var query = SubmissionQuery()
        query.filter = try FilterReader(condition: condition).filter(arguments)
        for comparator in try Comparator.all(arguments) {
            switch comparator.property {
            case "sentAt": query.sort.append(.init(.sentAt, isAscending: comparator.isAscending))
            case "emailId": query.sort.append(.init(.emailID, isAscending: comparator.isAscending))
            case "threadId":
                query.sort.append(.init(.threadID, isAscending: comparator.isAscending))
            default: throw .unsupportedSort
            }
        }
        try context.queries(context.mail.counts.submissions, arguments)
        let window = try StandardResponses.window(arguments)
        do throws(MailQueryError) {
            let result = try context.mail.querySubmissions(query, window)
            return StandardResponses.query(result, canCalculateChanges: false, in: context)
        } catch {
            throw MethodError(error)
        }
    }

    private static func condition(
        _ name: String, _ value: JSONValue
    ) throws(MethodError) -> SubmissionQuery.Filter {
        let filter: SubmissionQuery.Filter?
        switch name {
        case "identityIds": filter = value.strings.map { .identities(Set($0)) }
        case "emailIds": filter = value.strings.map { .emails(Set($0)) }
        case "threadIds": filter = value.strings.map { .threads(Set($0)) }
        case "undoStatus":
            let known = ["pending", "final", "canceled"]
            filter = value.string.flatMap { known.contains($0) ? .undoStatus($0) : nil }
        case "before":
            filter = value.string.flatMap(MailInstant.init(utcDate:)).map { .before($0) }
        case "after":
            filter = value.string.flatMap(MailInstant.init(utcDate:)).map { .after($0) }
        default: throw .unsupportedFilter
        }
        guard let filter else {
            throw .invalidArguments("`\(name)` in the filter has the wrong type.")
        }
        return filter
    }
}
