internal import LocalMail
internal import StrictJSON

/// Mailbox/get, changes, query and queryChanges (RFC 8621 §2).
enum MailboxMethods {
    // Computed, because the compiler crashes on the closures in a stored one.
    static var all: [String: JMAPMethod] {
        [
            "Mailbox/get": .one(Capability.mail, get),
            "Mailbox/changes": .one(Capability.mail) { arguments, context throws(MethodError) in
                try StandardResponses.changes(of: .mailbox, arguments, in: context)
            },
            "Mailbox/query": .one(Capability.mail, query),
            "Mailbox/queryChanges": .one(Capability.mail, queryChanges),
        ]
    }

    private static let properties = [
        "id", "name", "parentId", "role", "sortOrder", "totalEmails", "unreadEmails",
        "totalThreads", "unreadThreads", "myRights", "isSubscribed",
    ]

    @Sendable private static func get(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(["accountId", "ids", "properties"])
        try arguments.checkAccount(of: context)
        let ids = try arguments.ids("ids", in: context)
        let wanted = try arguments.properties(of: properties)
        try context.looks(at: context.mail.counts.folders)
        let (folders, state) = context.mail.folders()
        guard ids != nil || folders.count <= Arguments.maxObjects else { throw .requestTooLarge }
        let asked = ids.map(Set.init)
        let objects = folders.filter { asked?.contains($0.id) ?? true }
            .map { (id: $0.id, value: JSONValue.object(object($0, wanted))) }
        return StandardResponses.get(objects, of: ids, state: state, in: context)
    }

    static func createdObject(_ folder: MailFolder) -> JSONValue {
        .object(object(folder, Set(properties)))
    }

    static func object(_ folder: MailFolder, _ wanted: Set<String>) -> JSONObject {
        let members: [JSONObject.Member] = [
            .init("id", .string(folder.id)), .init("name", .string(folder.name)),
            .init("parentId", .optional(folder.parentID)),
            .init("role", .optional(folder.role?.rawValue)),
            .init("sortOrder", .integer(Int64(folder.sortOrder))),
            .init("totalEmails", .integer(Int64(folder.counts.totalEmails))),
            .init("unreadEmails", .integer(Int64(folder.counts.unreadEmails))),
            .init("totalThreads", .integer(Int64(folder.counts.totalThreads))),
            .init("unreadThreads", .integer(Int64(folder.counts.unreadThreads))),
            .init("myRights", rights(of: folder)),
            .init("isSubscribed", .bool(folder.isSubscribed)),
        ]
        return JSONObject(members: members.filter { wanted.contains($0.name) })
    }

    private static func rights(of folder: MailFolder) -> JSONValue {
        let all = [
            "mayReadItems", "mayAddItems", "mayRemoveItems", "maySetSeen", "maySetKeywords",
            "mayCreateChild", "mayRename", "maySubmit",
        ]
        let members = all.map { JSONObject.Member($0, .bool(true)) }
        return .object(
            JSONObject(members: members + [.init("mayDelete", .bool(folder.mayDelete))]))
    }

    // MARK: Queries

    @Sendable private static func query(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(
            StandardResponses.windowArguments.union(["sortAsTree", "filterAsTree"]))
        try arguments.checkAccount(of: context)
        let query = try folderQuery(arguments)
        try context.queries(context.mail.counts.folders, arguments)
        let window = try StandardResponses.window(arguments)
        do throws(MailQueryError) {
            let result = try context.mail.queryFolders(query, window)
            return StandardResponses.query(result, in: context)
        } catch {
            throw MethodError(error)
        }
    }

    @Sendable private static func queryChanges(
        _ arguments: Arguments, _ context: inout CallContext
    ) throws(MethodError) -> [JSONObject.Member] {
        try arguments.check(
            StandardResponses.queryChangesArguments.union(["sortAsTree", "filterAsTree"]))
        try arguments.checkAccount(of: context)
        let query = try folderQuery(arguments)
        try context.queries(context.mail.counts.folders, arguments)
        let since = try arguments.requiredString("sinceQueryState")
        let upToID = try arguments.string("upToId")
        let limit = try arguments.integer("maxChanges", from: 1)
        let total = try arguments.bool("calculateTotal")
        do throws(MailChangesError) {
            let changes = try context.mail.folderQueryChanges(
                query, since: since, upToID: upToID, limit: limit, calculateTotal: total)
            return StandardResponses.queryChanges(changes, in: context)
        } catch {
            throw MethodError(error)
        }
    }

    private static func folderQuery(_ arguments: Arguments) throws(MethodError) -> FolderQuery {
        var query = FolderQuery()
        query.filter = try FilterReader(condition: condition).filter(arguments)
        query.sortAsTree = try arguments.bool("sortAsTree")
        query.filterAsTree = try arguments.bool("filterAsTree")
        for comparator in try Comparator.all(arguments) {
            switch comparator.property {
            case "sortOrder":
                query.sort.append(.init(.sortOrder, isAscending: comparator.isAscending))
            case "name": query.sort.append(.init(.name, isAscending: comparator.isAscending))
            default: throw .unsupportedSort
            }
        }
        return query
    }

    private static func condition(
        _ name: String, _ value: JSONValue
    ) throws(MethodError) -> FolderQuery.Filter {
        switch (name, value) {
        case ("parentId", .null): return .parent(nil)
        case ("parentId", .string(let id)): return .parent(id)
        case ("name", .string(let text)): return .name(text)
        case ("role", .null): return .role(nil)
        case ("role", .string(let text)):
            // A role that this server does not give is nobody's.
            guard let role = FolderRole(rawValue: text) else { return .any([]) }
            return .role(role)
        case ("hasAnyRole", .bool(let has)): return .hasAnyRole(has)
        case ("isSubscribed", .bool(let isSubscribed)): return .isSubscribed(isSubscribed)
        case ("parentId", _), ("name", _), ("role", _), ("hasAnyRole", _), ("isSubscribed", _):
            throw .invalidArguments("`\(name)` in the filter has the wrong type.")
        default: throw .unsupportedFilter
        }
    }
}
