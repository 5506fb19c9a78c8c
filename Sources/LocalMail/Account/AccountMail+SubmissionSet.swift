extension AccountMail {
    public func querySubmissions(
        _ query: SubmissionQuery, _ window: QueryWindow = QueryWindow()
    ) throws(MailQueryError) -> MailQueryResult {
        let (all, state) = submissions()
        let sorted = all.enumerated().filter { query.matches($0.element) }
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

extension SubmissionQuery {
    fileprivate func matches(_ submission: MailSubmission) -> Bool {
        (identityIDs?.contains(submission.identityID) ?? true)
            && (emailIDs?.contains(submission.emailID) ?? true)
            && (threadIDs?.contains(submission.threadID) ?? true)
            && (undoStatus.map { $0 == "final" } ?? true)
            && (before.map { submission.sentAt < $0 } ?? true)
            && (after.map { submission.sentAt >= $0 } ?? true)
    }

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
