internal import LocalMail
internal import StrictJSON

/// A filter that operators combine.
protocol CombinedFilter: Sendable {
    static func all(_ filters: [Self]) -> Self
    static func any(_ filters: [Self]) -> Self
    /// None of them matches.
    static func none(_ filters: [Self]) -> Self
}

extension MailFilter: CombinedFilter {}
extension FolderQuery.Filter: CombinedFilter {}
extension SubmissionQuery.Filter: CombinedFilter {}

/// Reads a FilterOperator or FilterCondition (RFC 8620 §5.5). JSON's own limit bounds the depth.
struct FilterReader<Filter: CombinedFilter> {
    private enum Operator: String {
        case and = "AND"
        case or = "OR"
        case not = "NOT"
    }

    /// One member of a condition; all members must match.
    let condition: (String, JSONValue) throws(MethodError) -> Filter

    /// - Returns: `nil` without a filter.
    func filter(_ arguments: Arguments) throws(MethodError) -> Filter? {
        guard let value = arguments.object.present("filter") else { return nil }
        return try filter(value)
    }

    private func filter(_ value: JSONValue) throws(MethodError) -> Filter {
        guard let object = value.object else {
            throw .invalidArguments("A filter must be an object.")
        }
        guard let name = object["operator"] else {
            var conditions: [Filter] = []
            for member in object.members {
                conditions.append(try condition(member.name, member.value))
            }
            return conditions.count == 1 ? conditions[0] : .all(conditions)
        }
        guard let `operator` = name.string.flatMap(Operator.init),
            let values = object["conditions"]?.array, object.members.count == 2
        else {
            throw .invalidArguments(
                "A filter with `operator` has AND, OR or NOT there, and an array `conditions`.")
        }
        var conditions: [Filter] = []
        for value in values { conditions.append(try filter(value)) }
        switch `operator` {
        case .and: return .all(conditions)
        case .or: return .any(conditions)
        case .not: return .none(conditions)
        }
    }
}

extension CallContext {
    /// To be called before a filter and comparators look at objects. Without an operator a filter
    /// has each condition once at most.
    mutating func queries(_ count: Int, _ arguments: Arguments) throws(MethodError) {
        if arguments.object["filter"]?.object?["operator"] != nil { try takesLong() }
        try looks(at: count * (1 + (arguments.object["sort"]?.array?.count ?? 0)))
    }
}

/// A Comparator (RFC 8620 §5.5).
struct Comparator {
    let property: String
    let isAscending: Bool
    let keyword: String?

    static let collation = "i;ascii-casemap"

    /// All comparators of the call.
    static func all(_ arguments: Arguments) throws(MethodError) -> [Comparator] {
        guard let value = arguments.object.present("sort") else { return [] }
        guard let values = value.array, values.count <= 16 else {
            throw .invalidArguments("`sort` must be an array of at most 16 comparators.")
        }
        var comparators: [Comparator] = []
        for value in values {
            guard let object = value.object, let property = object["property"]?.string else {
                throw .invalidArguments("A comparator must be an object with `property`.")
            }
            let comparator = Arguments(object: object)
            let isAscending =
                object["isAscending"] == nil ? true : try comparator.bool("isAscending")
            let collation = try comparator.string("collation") ?? Self.collation
            guard collation == Self.collation else { throw .unsupportedSort }
            comparators.append(
                Comparator(
                    property: property,
                    isAscending: isAscending,
                    keyword: try comparator.string("keyword")))
        }
        return comparators
    }
}
