import AuthCore
import TestPrimitives
import Testing

@testable import AuthStorage

@Suite struct PostgresStoreTests {
    private func open(
        _ url: PostgresURL, _ change: (inout PostgresSettings) -> Void = { _ in }
    ) async throws -> PostgresStore {
        var settings = TestServer.settings
        change(&settings)
        return try await PostgresStore.open(url, settings: settings, at: .epoch)
    }

    /// A standby does not know yet what was revoked, so that the URL cannot ask for one.
    @Test func aServerThatCannotBeWrittenToIsNotUsed() async throws {
        let url = try TestServer.shared.makeDatabase()
        let handle = try TestServer.shared.connect(to: url)
        let query = Query("one", "SELECT 1")
        #expect(try handle.run([PostgresStatement(query)]).count == 1)
        try handle.execute(script: "SET default_transaction_read_only = on", name: "test")
        #expect(throws: PostgresFailure.self) { try handle.run([PostgresStatement(query)]) }
        #expect(handle.takeNotifications() == nil)

        let other = try TestServer.shared.connect(to: url)
        try other.execute(
            script: """
                DO $$ BEGIN
                    EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = on',
                                   current_database());
                END $$
                """, name: "test")
        let any = try #require(PostgresURL(url.text + "&target_session_attrs=any"))
        for url in [url, any] {
            #expect(throws: StorageError.self) { try TestServer.shared.connect(to: url) }
        }
    }

    /// The server reports it with the answer to a statement that has begun before.
    @Test func whatAServerHasReadThatBecameReadOnlyIsNotUsed() throws {
        let url = try TestServer.shared.makeDatabase()
        let handle = try TestServer.shared.connect(to: url)
        let change = Query(
            "change", "SELECT set_config('default_transaction_read_only', 'on', false)")
        #expect(throws: PostgresFailure.self) { try handle.run([PostgresStatement(change)]) }
    }

    /// Its loop would otherwise be told again and again that it can be written.
    @Test func anIdleConnectionHasNothingToWrite() throws {
        let handle = try TestServer.shared.connect(to: try TestServer.shared.makeDatabase())
        #expect(handle.isFlushed)
        _ = try handle.run([PostgresStatement(Query("one", "SELECT 1"))])
        #expect(handle.isFlushed)
    }

    @Test func aLockThatIsHeldTooLongIsBusy() async throws {
        let url = try TestServer.shared.makeDatabase()
        let store = try await open(url) { $0.lockTimeout = .milliseconds(20) }
        #expect(try await store.insert(account(1)))
        let other = try TestServer.shared.connect(to: url)
        try other.execute(script: "BEGIN; LOCK TABLE account", name: "hold")
        await #expect(throws: StoreBusy.self) {
            try await store.setState(of: accountID(1), to: .disabled)
        }
        try other.execute(script: "ROLLBACK", name: "release")
        #expect(try await store.setState(of: accountID(1), to: .disabled))
    }

    @Test func aStatementThatTakesTooLongIsBusy() async throws {
        let url = try TestServer.shared.makeDatabase()
        let store = try await open(url) { $0.statementTimeout = .milliseconds(20) }
        let other = try TestServer.shared.connect(to: url)
        try other.execute(script: "BEGIN; LOCK TABLE account", name: "hold")
        await #expect(throws: StoreBusy.self) { try await store.account(id: accountID(1)) }
        try other.execute(script: "ROLLBACK", name: "release")
    }

    @Test func callsBeyondTheQueueAreBusyAndHaveDoneNothing() async throws {
        let url = try TestServer.shared.makeDatabase()
        let store = try await open(url) {
            $0.connections = 1
            $0.depth = 1
        }
        let other = try TestServer.shared.connect(to: url)
        try other.execute(script: "BEGIN; LOCK TABLE account", name: "hold")
        let refused = Level()
        let won = Task {
            try await winners(of: 20) { number in
                do {
                    return try await store.insert(account(number))
                } catch is StoreBusy {
                    refused.raise()
                    return false
                }
            }
        }
        await refused.reaches(18)
        try other.execute(script: "ROLLBACK", name: "release")
        #expect((1...2).contains(try await won.value))
        #expect(try await store.accounts(after: nil, limit: 99).count == won.value)
    }

    /// Two transactions that lock rows in opposite orders: the server ends one of them.
    @Test func aDeadlockIsRetried() async throws {
        let url = try TestServer.shared.makeDatabase()
        let store = try await open(url)
        for number in 1...2 { #expect(try await store.insert(account(number))) }
        let other = try TestServer.shared.connect(to: url)
        func lock(_ number: Int) throws {
            try other.execute(
                script: "UPDATE account SET used = 7 WHERE id = '\(accountID(number))'",
                name: "lock")
        }
        try other.execute(
            script: "SET deadlock_timeout = '60s'; BEGIN", name: "begin")
        try lock(2)
        let reports = try (1...2).map {
            UsageReport(address: try address("user\($0)@mail.test"), used: 9)
        }
        let noting = Task { try await store.note(reports) }
        while try !isWaiting(other) {}
        try lock(1)
        try other.execute(script: "COMMIT", name: "commit")
        #expect(try await noting.value == [true, true])
        #expect(try await store.account(id: accountID(2))?.used == 9)
    }

    private func isWaiting(_ handle: PostgresHandle) throws -> Bool {
        let query = Query(
            "waiting",
            """
            SELECT 1 FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND datname = current_database()
            """)
        return try !handle.run([PostgresStatement(query)])[0].isEmpty
    }

    @Test func aTaskIsDoneByOneServerAtATime() async throws {
        let url = try TestServer.shared.makeDatabase()
        let stores = [try await open(url), try await open(url)]
        let ran = Recorder()
        let isDone = try await stores[0].exclusively("sweep") {
            let other = try await stores[1].exclusively("sweep") { ran.add("second") }
            #expect(!other)
            let another = try await stores[1].exclusively("trim") { ran.add("another") }
            #expect(another)
        }
        #expect(isDone && ran.texts == ["another"])
        struct Failed: Error {}
        await #expect(throws: Failed.self) {
            try await stores[0].exclusively("sweep") { throw Failed() }
        }
        #expect(try await stores[1].exclusively("sweep") { ran.add("second") })
        #expect(ran.texts == ["another", "second"])
    }

    /// As through a pool that shares sessions, which loses notifications.
    @Test func aChangeOfKeysIsFoundWithoutNotifications() async throws {
        let url = try TestServer.shared.makeDatabase()
        let stores = [try await open(url), try await open(url)]
        let before = try await stores[0].changeCount()
        let other = try TestServer.shared.connect(to: url)
        try other.execute(
            script: """
                ALTER TABLE signing_key DISABLE TRIGGER ALL;
                INSERT INTO signing_key VALUES ('a', 'agent', '\\x00', now(), NULL)
                """, name: "insert")
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(60)
        while try await stores[0].changeCount() == before {
            try #require(clock.now < deadline)
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    @Test func aZeroCharacterIsStoredAsAReplacementCharacter() async throws {
        let store = try await open(try TestServer.shared.makeDatabase())
        #expect(try await store.insert(user(1)))
        let odd = APIToken(
            id: tokenID(1), owner: userID(1), name: "a\0b", digest: digest(1), created: .epoch)
        #expect(try await store.insert(odd))
        #expect(try await store.token(digest: digest(1))?.name == "a\u{fffd}b")
    }

    @Test func aClosedStoreSaysSo() async throws {
        let store = try await open(try TestServer.shared.makeDatabase())
        _ = try await store.changeCount()
        await store.close()
        await #expect(throws: StorageError.closed) { try await store.account(id: accountID(1)) }
        await #expect(throws: StorageError.closed) { try await store.changeCount() }
    }

    @Test(arguments: [
        "UPDATE audit SET subject = 'forged'", "UPDATE audit SET count = 2",
        "DELETE FROM audit WHERE sequence = 2", "UPDATE audit SET minute = 1",
    ])
    func theAuditRecordCannotBeForged(script: String) async throws {
        let url = try TestServer.shared.makeDatabase()
        let store = try await open(url)
        for number in 1...3 { try await store.append(event(.loginSucceeded, "\(number)")) }
        let other = try TestServer.shared.connect(to: url)
        let error = #expect(throws: PostgresFailure.self) {
            try other.execute(script: script, name: "forge")
        }
        guard case .rejected(let failure) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.state == "23001")
        #expect(try await store.subjects == ["1", "2", "3"])
    }

    @Test func anEventThatIsCommittedLateIsNotMissed() async throws {
        // The list waits only for events of the last fifteen seconds. Where the machine was busy
        // for longer, try again.
        while true {
            let url = try TestServer.shared.makeDatabase()
            let store = try await open(url)
            let start = ContinuousClock.now
            let now = try #require(
                try TestServer.shared.connect(to: url).run(
                    [PostgresStatement(Query("now", "SELECT now()"))])[0].first {
                        try $0.instant(0)
                    })
            func append(_ subject: String, at time: Instant) async throws {
                try await store.append(
                    AuditEvent(.loginSucceeded, time: time, actor: .operator, subject: subject))
            }
            try await append("first", at: now)
            let slow = try TestServer.shared.connect(to: url)
            try slow.execute(
                script: """
                    BEGIN; INSERT INTO audit
                        (kind, time, actor, subject, client, request_id, network)
                    VALUES ('login_succeeded', now(), 'operator', 'slow', '', '', '')
                    """, name: "slow")
            try await append("fast", at: now)
            let early = try await store.subjects
            guard ContinuousClock.now < start + .seconds(12) else { continue }
            #expect(early == ["first"])
            try slow.execute(script: "COMMIT", name: "commit")
            #expect(try await store.subjects == ["first", "slow", "fast"])
            // A number that is never used does not end the list for ever.
            try slow.execute(script: "SELECT nextval('audit_sequence_seq')", name: "skip")
            try await append("old", at: now.advanced(by: .seconds(-60)))
            #expect(try await store.subjects.last == "old")
            return
        }
    }

    /// The number of an event is given after its commit.
    @Test func anAccountEventThatIsCommittedLateIsNumberedLast() async throws {
        let url = try TestServer.shared.makeDatabase()
        let store = try await open(url)
        let slow = try TestServer.shared.connect(to: url)
        try slow.execute(
            script: """
                BEGIN; INSERT INTO account_event (id, kind, time, account, address)
                VALUES (gen_random_uuid(), 'account_enabled', now(), '\(accountID(7))', 'a@b.test')
                """, name: "slow")
        #expect(try await store.insert(account(1)))
        #expect(try await store.accountEvents(after: 0, limit: 9).map(\.number) == [1])
        try slow.execute(script: "COMMIT; BEGIN; SELECT pg_current_xact_id()", name: "commit")
        // Neither an event that is undone nor a transaction that stays open stops the feed.
        let undone = try TestServer.shared.connect(to: url)
        try undone.execute(
            script: """
                BEGIN; INSERT INTO account_event (id, kind, time, account, address)
                VALUES (gen_random_uuid(), 'account_enabled', now(), '\(accountID(8))', 'a@b.test');
                ROLLBACK
                """, name: "undone")
        #expect(try await store.insert(account(2)))
        let events = try await store.accountEvents(after: 0, limit: 9)
        #expect(events.map(\.number) == [1, 2, 3])
        #expect(events.map(\.account) == [accountID(1), accountID(7), accountID(2)])
    }

    @Test func errorsOfTheServerAreClassified() {
        func error(_ state: String, _ constraint: String? = nil) -> any Error {
            SQLFailure(state: state, constraint: constraint, statement: "s").storeError
        }
        #expect(error("53100") is StoreFull)
        for state in ["55P03", "57014", "53300", "40001", "40P01", "57P01", "25006"] {
            #expect(error(state) is StoreBusy, "\(state)")
        }
        #expect(error("23503") as? StorageError == .unknownOwner)
        #expect(
            error("42P01") as? StorageError == .failed(statement: "s", code: .sqlState("42P01")))
        #expect(SQLFailure(state: "40001").isTransient && SQLFailure(state: "40P01").isTransient)
        #expect(!SQLFailure(state: "23505").isTransient && !SQLFailure(state: "23505").isRepetition)
        #expect(SQLFailure(state: "23505", constraint: "audit_write").isRepetition)
        let text = StorageError.failed(statement: "s", code: .sqlState("42501")).description
        #expect(text.contains("grant") && text.contains("42501"))
    }

    @Test func anEventIsReportedBeforeTheWriteReturns() async throws {
        let heard = Recorder()
        let store = try await PostgresStore.open(
            try TestServer.shared.makeDatabase(), settings: TestServer.settings,
            observers: StoreObservers(event: { heard.add($0.subject) }), at: .epoch)
        #expect(try await store.insert(user(1), recording: event(.userCreated, "user")))
        #expect(
            try await store.insert(token(1), limit: 1, recording: event(.tokenCreated, "token")))
        #expect(try await !store.insert(token(2), limit: 1, recording: event(.tokenCreated, "no")))
        #expect(
            try await store.replacePassword(
                of: userID(1), at: 1, with: hash("a"), revokingTokens: true,
                recording: event(.credentialReset, "reset")))
        #expect(heard.texts == ["user", "token", tokenID(1).text, "reset"])
        #expect(try await store.subjects == heard.texts)
    }

    @Test func timesRoundTripAndThoseOutOfRangeAreInfinite() {
        for milliseconds: Int64 in [0, -1, 1, 946_684_800_000, -62_135_596_800_000, .min, .max] {
            let instant = Instant(milliseconds: milliseconds)
            #expect(
                PostgresTime.instant(microseconds: PostgresTime.microseconds(instant)) == instant)
        }
        #expect(PostgresTime.microseconds(Instant(milliseconds: .max - 1)) == .max)
        #expect(PostgresTime.microseconds(Instant(milliseconds: -250_000_000_000_000)) == .min)
    }
}
