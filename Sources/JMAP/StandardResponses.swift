internal import LocalMail
internal import StrictJSON

/// The members of the responses that all data types have in common (RFC 8620 §5).
enum StandardResponses {
    typealias Members = [JSONObject.Member]

    /// /get (RFC 8620 §5.1).
    /// - Parameter ids: those that were asked for; `nil` for all.
    static func get(
        _ objects: [(id: String, value: JSONValue)], of ids: [String]?, state: String,
        in context: CallContext
    ) -> Members {
        let found = Set(objects.map(\.id))
        let missing = (ids ?? []).filter { !found.contains($0) }
        return [
            .init("accountId", .string(context.mail.account.id)), .init("state", .string(state)),
            .init("list", .array(objects.map(\.value))), .init("notFound", .strings(missing)),
        ]
    }

    /// /changes (RFC 8620 §5.2).
    static func changes(
        of type: MailType, _ arguments: Arguments, in context: CallContext
    ) throws(MethodError) -> Members {
        try arguments.check(["accountId", "sinceState", "maxChanges"])
        try arguments.checkAccount(of: context)
        let since = try arguments.requiredString("sinceState")
        let limit = try arguments.integer("maxChanges", from: 1)
        let changes: MailChanges
        do throws(MailChangesError) {
            changes = try context.mail.changes(of: type, since: since, limit: limit)
        } catch {
            throw MethodError(error)
        }
        var members: Members = [
            .init("accountId", .string(context.mail.account.id)),
            .init("oldState", .string(changes.oldState)),
            .init("newState", .string(changes.newState)),
            .init("hasMoreChanges", .bool(changes.hasMoreChanges)),
            .init("created", .strings(changes.created)),
            .init("updated", .strings(changes.updated)),
            .init("destroyed", .strings(changes.destroyed)),
        ]
        if type == .mailbox {
            // RFC 8621 §2.2.
            let counts = ["totalEmails", "unreadEmails", "totalThreads", "unreadThreads"]
            members.append(
                .init("updatedProperties", changes.onlyCounts ? .strings(counts) : .null))
        }
        return members
    }

    static let windowArguments: Set<String> = [
        "accountId", "filter", "sort", "position", "anchor", "anchorOffset", "limit",
        "calculateTotal",
    ]
    static let queryChangesArguments: Set<String> = [
        "accountId", "filter", "sort", "sinceQueryState", "maxChanges", "upToId", "calculateTotal",
    ]

    static func window(_ arguments: Arguments) throws(MethodError) -> QueryWindow {
        var window = QueryWindow()
        window.position = try arguments.integer("position") ?? 0
        window.anchor = try arguments.string("anchor")
        window.anchorOffset = try arguments.integer("anchorOffset") ?? 0
        window.limit = try arguments.integer("limit", from: 0)
        window.calculateTotal = try arguments.bool("calculateTotal")
        return window
    }

    /// /query (RFC 8620 §5.5).
    static func query(
        _ result: MailQueryResult, canCalculateChanges: Bool = true, in context: CallContext
    ) -> Members {
        var members: Members = [
            .init("accountId", .string(context.mail.account.id)),
            .init("queryState", .string(result.queryState)),
            .init("canCalculateChanges", .bool(canCalculateChanges)),
            .init("position", .integer(Int64(result.position))),
            .init("ids", .strings(result.ids)),
        ]
        if let total = result.total { members.append(.init("total", .integer(Int64(total)))) }
        return members
    }

    /// /queryChanges (RFC 8620 §5.6).
    static func queryChanges(_ changes: MailQueryChanges, in context: CallContext) -> Members {
        var members: Members = [
            .init("accountId", .string(context.mail.account.id)),
            .init("oldQueryState", .string(changes.oldState)),
            .init("newQueryState", .string(changes.newState)),
        ]
        if let total = changes.total { members.append(.init("total", .integer(Int64(total)))) }
        let added = changes.added.map { added in
            JSONValue.object(
                JSONObject(members: [
                    .init("id", .string(added.id)), .init("index", .integer(Int64(added.index))),
                ]))
        }
        return members + [
            .init("removed", .strings(changes.removed)), .init("added", .array(added)),
        ]
    }
}

extension JSONValue {
    static func strings(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
}

extension MethodError {
    init(_ error: MailChangesError) {
        switch error {
        case .cannotCalculateChanges: self = .cannotCalculateChanges
        case .tooManyChanges: self.init("tooManyChanges")
        case .unsupportedFilter: self = .unsupportedFilter
        }
    }

    init(_ error: MailQueryError) {
        switch error {
        case .anchorNotFound: self = .anchorNotFound
        case .unsupportedFilter: self = .unsupportedFilter
        }
    }

    static let unsupportedFilter = MethodError("unsupportedFilter")
    static let unsupportedSort = MethodError("unsupportedSort")
}
