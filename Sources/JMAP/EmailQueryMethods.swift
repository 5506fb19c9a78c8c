internal import LocalMail
internal import StrictJSON

/// Email/changes, query and queryChanges (RFC 8621 §4.3 to §4.5).
enum EmailQueryMethods {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        [
            "Email/changes": .one(Capability.mail) { arguments, context throws(MethodError) in
                try StandardResponses.changes(of: .email, arguments, in: context)
            },
            "Email/query": .one(Capability.mail, query),
            "Email/queryChanges": .one(Capability.mail, queryChanges),
        ]
    }

    @Sendable private static func query(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(StandardResponses.windowArguments.union(["collapseThreads"]))
        try arguments.checkAccount(of: context)
        let query = try mailQuery(arguments)
        let window = try StandardResponses.window(arguments)
        do throws(MailQueryError) {
            let result = try context.mail.queryEmails(query, window)
            return StandardResponses.query(result, in: context)
        } catch {
            throw MethodError(error)
        }
    }

    @Sendable private static func queryChanges(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(StandardResponses.queryChangesArguments.union(["collapseThreads"]))
        try arguments.checkAccount(of: context)
        let query = try mailQuery(arguments)
        let since = try arguments.requiredString("sinceQueryState")
        let upToID = try arguments.string("upToId")
        let limit = try arguments.integer("maxChanges", from: 1)
        let total = try arguments.bool("calculateTotal")
        do throws(MailChangesError) {
            let changes = try context.mail.emailQueryChanges(
                query, since: since, upToID: upToID, limit: limit, calculateTotal: total)
            return StandardResponses.queryChanges(changes, in: context)
        } catch {
            throw MethodError(error)
        }
    }

    private static func mailQuery(_ arguments: Arguments) throws(MethodError) -> MailQuery {
        var query = MailQuery()
        query.filter = try FilterReader(combine: combine, condition: condition).filter(arguments)
        query.collapseThreads = try arguments.bool("collapseThreads")
        for comparator in try Comparator.all(arguments) {
            guard let property = property(of: comparator) else { throw .unsupportedSort }
            query.sort.append(MailSort(property, isAscending: comparator.isAscending))
        }
        return query
    }

    /// - Returns: `nil` for a property that messages are not sorted by.
    private static func property(of comparator: Comparator) -> MailSort.Property? {
        switch (comparator.property, comparator.keyword) {
        case ("receivedAt", _): .receivedAt
        case ("sentAt", _): .sentAt
        case ("from", _): .from
        case ("to", _): .to
        case ("subject", _): .subject
        case ("size", _): .size
        case ("hasKeyword", let keyword?): .hasKeyword(keyword)
        case ("allInThreadHaveKeyword", let keyword?): .allInThreadHaveKeyword(keyword)
        case ("someInThreadHaveKeyword", let keyword?): .someInThreadHaveKeyword(keyword)
        default: nil
        }
    }

    private static func combine(
        _ name: FilterReader<MailFilter>.Operator, _ conditions: [MailFilter]
    ) -> MailFilter {
        switch name {
        case .and: .all(conditions)
        case .or: .any(conditions)
        case .not: .none(conditions)
        }
    }

    private static func condition(
        _ name: String, _ value: JSONValue
    ) throws(MethodError) -> MailFilter {
        guard names.contains(name) else { throw .unsupportedFilter }
        if let found = textCondition(name, value) ?? otherCondition(name, value) {
            return .condition(found)
        }
        throw .invalidArguments("`\(name)` in the filter has the wrong type.")
    }

    private static let names: Set<String> = [
        "inMailbox", "inMailboxOtherThan", "before", "after", "minSize", "maxSize",
        "allInThreadHaveKeyword", "someInThreadHaveKeyword", "noneInThreadHaveKeyword",
        "hasKeyword", "notKeyword", "hasAttachment", "text", "from", "to", "cc", "bcc", "subject",
        "body", "header",
    ]

    private static func textCondition(_ name: String, _ value: JSONValue) -> MailCondition? {
        guard let text = value.string else { return nil }
        switch name {
        case "inMailbox": return .inMailbox(text)
        case "before": return MailInstant(utcDate: text).map(MailCondition.before)
        case "after": return MailInstant(utcDate: text).map(MailCondition.after)
        case "allInThreadHaveKeyword": return .allInThreadHaveKeyword(text)
        case "someInThreadHaveKeyword": return .someInThreadHaveKeyword(text)
        case "noneInThreadHaveKeyword": return .noneInThreadHaveKeyword(text)
        case "hasKeyword": return .hasKeyword(text)
        case "notKeyword": return .notKeyword(text)
        case "text": return .text(text)
        case "from": return .from(text)
        case "to": return .to(text)
        case "cc": return .cc(text)
        case "bcc": return .bcc(text)
        case "subject": return .subject(text)
        case "body": return .body(text)
        default: return nil
        }
    }

    private static func otherCondition(_ name: String, _ value: JSONValue) -> MailCondition? {
        switch (name, value) {
        case ("inMailboxOtherThan", _): return value.strings.map(MailCondition.inMailboxOtherThan)
        case ("minSize", .integer(let size)) where size >= 0:
            return .minSize(Int(clamping: size))
        case ("maxSize", .integer(let size)) where size >= 0:
            return .maxSize(Int(clamping: size))
        case ("hasAttachment", .bool(let has)): return .hasAttachment(has)
        case ("header", _):
            guard let parts = value.strings, (1...2).contains(parts.count) else { return nil }
            return .header(name: parts[0], value: parts.count == 2 ? parts[1] : nil)
        default: return nil
        }
    }
}
