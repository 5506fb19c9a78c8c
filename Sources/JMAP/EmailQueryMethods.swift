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
        if !query.isOfFirst(1_000, window) { try context.takesLong() }
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
        query.filter = try EmailFilter.read(arguments)
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
}
