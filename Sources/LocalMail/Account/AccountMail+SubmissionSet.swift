extension AccountMail {
    public func querySubmissions(
        _ query: SubmissionQuery, _ window: QueryWindow = QueryWindow()
    ) throws(MailQueryError) -> MailQueryResult {
        var conditions = limits.filterConditions
        guard query.filter?.isWithin(depth: limits.filterDepth, conditions: &conditions) ?? true
        else { throw .unsupportedFilter }
        let (all, state) = submissions()
        let sorted = all.enumerated().filter { query.filter?.matches($0.element) ?? true }
            .sorted { query.precedes($0, $1) }.map(\.element.id)
        var position = window.position
        if let anchor = window.anchor {
            guard let index = sorted.firstIndex(of: anchor) else { throw .anchorNotFound }
            position = max(0, index.addingReportingOverflow(window.anchorOffset).partialValue)
        } else if position < 0 {
            position = max(0, sorted.count.addingReportingOverflow(position).partialValue)
        }
        return MailQueryResult(
            queryState: state, position: position,
            ids: Array(sorted.dropFirst(position).prefix(max(0, window.limit ?? .max))),
            total: window.calculateTotal ? sorted.count : nil)
    }

    /// Forgets submissions.
    ///
    /// - Returns: whether each was known.
    public func destroySubmissions(_ ids: [String]) -> [Bool] {
        write { state in
            ids.map { id in
                MailID.number(.submission, id).map { state.removeSubmission($0) } ?? false
            }
        }
    }
}

extension SubmissionQuery.Filter {
    fileprivate func isWithin(depth: Int, conditions: inout Int) -> Bool {
        // Operators count, because one without conditions takes as long as a condition.
        guard depth > 0, conditions > 0 else { return false }
        conditions -= 1
        switch self {
        case .all(let filters), .any(let filters), .none(let filters):
            for filter in filters {
                guard filter.isWithin(depth: depth - 1, conditions: &conditions) else {
                    return false
                }
            }
        default: break
        }
        return true
    }

    fileprivate func matches(_ submission: MailSubmission) -> Bool {
        switch self {
        case .all(let filters): filters.allSatisfy { $0.matches(submission) }
        case .any(let filters): filters.contains { $0.matches(submission) }
        case .none(let filters): !filters.contains { $0.matches(submission) }
        case .identities(let ids): ids.contains(submission.identityID)
        case .emails(let ids): ids.contains(submission.emailID)
        case .threads(let ids): ids.contains(submission.threadID)
        case .undoStatus(let status): status == "final"
        case .before(let time): submission.sentAt < time
        case .after(let time): submission.sentAt >= time
        }
    }
}

extension SubmissionQuery {
    fileprivate func precedes(
        _ left: (offset: Int, element: MailSubmission),
        _ right: (offset: Int, element: MailSubmission)
    ) -> Bool {
        for comparator in sort {
            let (one, other) = (left.element, right.element)
            switch comparator.property {
            case .sentAt where one.sentAt != other.sentAt:
                return (one.sentAt < other.sentAt) == comparator.isAscending
            case .emailID where one.emailID != other.emailID:
                return (one.emailID < other.emailID) == comparator.isAscending
            case .threadID where one.threadID != other.threadID:
                return (one.threadID < other.threadID) == comparator.isAscending
            default: break
            }
        }
        return (left.offset < right.offset) == (sort.first?.isAscending ?? true)
    }
}
