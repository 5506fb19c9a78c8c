public import LocalMail
internal import Scheduling
internal import StrictJSON

extension RemoteMail {
    /// Emails that one call asks for as changed.
    private static let maxChanges: Int64 = 64
    /// Calls for changes until the caller gets what was found.
    private static let maxCalls = 8

    /// A place in the order in which mail arrives.
    private enum Position {
        /// What arrived after this state of the emails (RFC 8620 §5.2).
        case state(String)
        /// The account has no mailbox yet: all of its mail is new.
        case beginning
    }

    public func newMessages(
        of account: MailAccount, after id: String?, until deadline: ContinuousClock.Instant
    ) async throws(MailStoreError) -> [MessageListing] {
        try await asking { () async throws(StoreFailure) in
            do throws(StoreFailure) {
                return try await awaited(of: account, after: id, until: deadline)
            } catch .cancelled {
                return []
            }
        }
    }

    private func awaited(
        of account: MailAccount, after id: String?, until deadline: ContinuousClock.Instant
    ) async throws(StoreFailure) -> [MessageListing] {
        var (found, position) = try await begin(of: account, after: id)
        guard found.isEmpty, ContinuousClock.now < deadline else { return found }
        for await _ in signals(for: account, until: deadline) {
            (found, position) = try await look(after: position, of: account, known: id)
            if !found.isEmpty { return found }
        }
        return []
    }

    /// What has arrived since the message, and where to go on.
    private func begin(
        of account: MailAccount, after id: String?
    ) async throws(StoreFailure) -> ([MessageListing], Position) {
        guard let id else {
            do throws(StoreFailure) {
                return ([], .state(try await state(of: account)))
            } catch {
                guard case .noMailbox = error else { throw error }
                return ([], .beginning)
            }
        }
        guard Arguments.isID(id) else { throw .notFound }
        if let state = store.accounts.state(after: id, of: account.id) {
            return try await look(after: .state(state), of: account, known: id)
        }
        return try await byDate(after: id, of: account)
    }

    private func state(of account: MailAccount) async throws(StoreFailure) -> String {
        try await call([EmailReading.stateCall], of: account).arguments(0, of: "Email/get")
            .text("state")
    }

    // MARK: What is new

    /// - Parameter id: a message that the caller has.
    private func look(
        after position: Position, of account: MailAccount, known id: String?
    ) async throws(StoreFailure) -> ([MessageListing], Position) {
        switch position {
        case .beginning:
            do throws(StoreFailure) {
                let state = try await state(of: account)
                let page = try await oldest(of: account, since: nil).prefix(MessagePage.length)
                return (remembered(Array(page), state, account), .state(state))
            } catch {
                guard case .noMailbox = error else { throw error }
                return ([], .beginning)
            }
        case .state(let state):
            return try await changes(since: state, of: account, known: id)
        }
    }

    /// What was created after a state. If the store cannot say that any more, what is there after
    /// the known message.
    private func changes(
        since start: String, of account: MailAccount, known id: String?
    ) async throws(StoreFailure) -> ([MessageListing], Position) {
        var (found, state): ([MessageListing], String) = ([], start)
        for _ in 0..<Self.maxCalls {
            let responses = try await call(
                [
                    EmailReading.unlistedCall,
                    MethodCall(
                        "Email/changes",
                        [("sinceState", .string(state)), ("maxChanges", .integer(Self.maxChanges))]
                    ),
                    EmailReading.get(idsOf: 1, "Email/changes", "/created"),
                ], of: account)
            if responses.hasError("cannotCalculateChanges", at: 1) {
                guard let id else { return ([], .state(try await self.state(of: account))) }
                return try await byDate(after: id, of: account)
            }
            let unlisted = Set(
                try EmailReading.unlisted(try responses.arguments(0, of: "Mailbox/query")))
            let changes = try responses.arguments(1, of: "Email/changes")
            state = try changes.text("newState")
            for email in try responses.arguments(2, of: "Email/get").objects("list") {
                let folders = try email.members("mailboxIds").members.map(\.name)
                guard folders.contains(where: { !unlisted.contains($0) }) else { continue }
                let message = try MessageListing(email)
                if message.id != id { found.append(message) }
            }
            guard try changes.bool("hasMoreChanges") else { break }
        }
        found.sort { $0.receivedAt < $1.receivedAt }
        if found.count > MessagePage.length {
            // The rest is found by its date.
            return (found.prefix(MessagePage.length).reversed(), .state(state))
        }
        return (remembered(found, state, account), .state(state))
    }

    /// What is listed after a message, by dates of whole seconds. Of the messages of one second it
    /// depends on the order that the store gives them.
    private func byDate(
        after id: String, of account: MailAccount
    ) async throws(StoreFailure) -> ([MessageListing], Position) {
        let date: String
        do throws(StoreFailure) {
            date = try await email(id, of: account, properties: ["id", "receivedAt"])
                .text("receivedAt")
        } catch {
            if case .noMailbox = error { throw .notFound }
            throw error
        }
        let state = try await state(of: account)
        let found = try await oldest(of: account, since: date)
        let start = found.firstIndex { $0.id == id }.map { $0 + 1 } ?? 0
        let rest = Array(found[start...].prefix(MessagePage.length))
        return (remembered(rest, state, account), .state(state))
    }

    /// The listed messages from a date on, the oldest first: a page and as many more.
    private func oldest(
        of account: MailAccount, since date: String?
    ) async throws(StoreFailure) -> [MessageListing] {
        let unlisted = try await unlisted(of: account)
        let responses = try await call(
            [
                MethodCall(
                    "Email/query",
                    [
                        ("filter", EmailReading.filter(unlisted, since: date)),
                        ("sort", EmailReading.sort(isAscending: true)),
                        ("limit", .integer(Int64(2 * MessagePage.length))),
                    ]),
                EmailReading.get(idsOf: 0, "Email/query", "/ids"),
            ], of: account)
        return try EmailReading.listings(
            try responses.arguments(1, of: "Email/get"),
            in: try responses.arguments(0, of: "Email/query").ids("ids"))
    }

    /// The messages, newest first. A caller goes on from the first of them.
    private func remembered(
        _ messages: [MessageListing], _ state: String, _ account: MailAccount
    ) -> [MessageListing] {
        if let newest = messages.last, messages.count < MessagePage.length {
            store.accounts.keep(state: state, after: newest.id, of: account.id)
        }
        return messages.reversed()
    }

    // MARK: When to look

    /// When something may have arrived: at events of the store, and at intervals. Ends at the
    /// deadline.
    private func signals(
        for account: MailAccount, until deadline: ContinuousClock.Instant
    ) -> AsyncStream<Void> {
        let (signals, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let hasNoEvents = AtomicFlag()
        let events = Task {
            while await hadEvent(of: account, until: deadline) {
                continuation.yield()
                // A store may begin every stream with an event.
                try await Task.sleep(for: .seconds(1))
                continuation.yield()
            }
            hasNoEvents.set()
        }
        let intervals = Task {
            let intervals = store.settings.pollIntervals
            var next = ContinuousClock.now + intervals.first
            while next < deadline {
                try await Task.sleep(until: next, clock: .continuous)
                continuation.yield()
                next +=
                    hasNoEvents.isSet ? intervals.withoutEvents : intervals.withEvents
            }
            try await Task.sleep(until: deadline, clock: .continuous)
            continuation.finish()
        }
        continuation.onTermination = { _ in
            events.cancel()
            intervals.cancel()
        }
        return signals
    }

    private func hadEvent(
        of account: MailAccount, until deadline: ContinuousClock.Instant
    ) async -> Bool {
        do throws(StoreFailure) {
            return await store.awaitEvent(
                of: account, try await session(of: account), for: client, credential,
                until: deadline)
        } catch {
            return false
        }
    }
}
