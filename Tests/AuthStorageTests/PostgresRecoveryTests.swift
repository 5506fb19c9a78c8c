import AuthCore
import Scheduling
import Testing

@testable import AuthStorage

/// What becomes of calls whose connection is lost.
@Suite struct PostgresRecoveryTests {
    private func open(
        connections: Int = 1, on loops: [EventLoop]? = nil
    ) async throws -> (store: PostgresStore, proxy: CuttingProxy) {
        let database = try TestServer.shared.makeDatabase()
        let proxy = try CuttingProxy(to: try TestServer.shared.socketDirectory())
        var settings = TestServer.settings
        settings.connections = connections
        settings.recoveryTimeout = .seconds(120)
        let url = try TestServer.shared.url(of: database, behind: proxy)
        return (try await PostgresStore.open(url, on: loops, settings: settings, at: .epoch), proxy)
    }

    /// Every write, with what it returns when it has made its change.
    private static let writes:
        [(name: String, call: @Sendable (PostgresStore) async throws -> Bool)] =
            [
                ("spend", { try await $0.spend("one", expiry: Instant(seconds: 9)) }),
                (
                    "hold",
                    { try await $0.hold("three", until: Instant(seconds: 9), at: .epoch) }
                ),
                (
                    "end",
                    {
                        try await $0.end(
                            "two", expiry: Instant(seconds: 9), recording: event(.sessionEnded))
                    }
                ),
                ("insert user", { try await $0.insert(user(1)) }),
                ("insert account", { try await $0.insert(account(1)) }),
                (
                    "insert owned account",
                    {
                        try await $0.insert(
                            account(2, owner: userID(1)), limit: 1, recording: event()) == .inserted
                    }
                ),
                (
                    "replace credential",
                    {
                        try await $0.replaceCredential(
                            of: accountID(1), at: 1, with: .password(hash("a")))
                    }
                ),
                ("rehash", { try await $0.rehash(accountID(1), from: hash("a"), to: hash("b")) }),
                ("disable", { try await $0.setState(of: accountID(1), to: .disabled) }),
                (
                    "set quota",
                    {
                        try await $0.setQuota(
                            of: accountID(1), to: 7, recording: event(.quotaChanged))
                    }
                ),
                ("insert session", { try await $0.insert(session(1)) }),
                (
                    "insert session with event",
                    { try await $0.insert(session(2), recording: event(.loginSucceeded)) }
                ),
                (
                    "end session",
                    {
                        try await $0.endSession(
                            sessionID(1), of: userID(1), recording: event(.sessionEnded))
                    }
                ),
                (
                    "end other sessions",
                    {
                        try await $0.endSessions(
                            of: userID(1), except: sessionID(1),
                            recording: event(.otherSessionsEnded))
                    }
                ),
                ("insert another session", { try await $0.insert(session(3)) }),
                (
                    "insert codes and end other sessions",
                    {
                        let codes = StoredTOTP(
                            owner: userID(1), sealedSecret: [1], lastStep: 1, created: .epoch)
                        return try await $0.insert(
                            codes, recoveryCodes: [], recording: event(.totpEnabled),
                            ending: OtherSessions(
                                than: sessionID(9), recording: event(.otherSessionsEnded)))
                    }
                ),
                ("insert token", { try await $0.insert(token(1), limit: 1, recording: event()) }),
                (
                    "replace password",
                    {
                        try await $0.replacePassword(
                            of: userID(1), at: 1, with: hash("new"), revokingTokens: true,
                            recording: event(.credentialReset))
                    }
                ),
                ("insert domain", { try await $0.insert(domain(1)) == .inserted }),
                (
                    "verify domain",
                    {
                        try await $0.setVerification(of: domainID(1), to: .verified, at: 5)
                            == .verified
                    }
                ),
                (
                    "remove domain",
                    { try await $0.removeDomain(domainID(1), of: userID(1)) == .removed }
                ),
                ("insert key", { try await $0.insertFirst(key("a")) }),
                (
                    "rotate",
                    {
                        try await $0.rotate(to: key("b", created: 2), retiring: .epoch)
                        return true
                    }
                ),
                (
                    "reseal",
                    {
                        try await $0.reseal(recording: event(.keysResealed), secrets: { $1 }) {
                            $0.sealed + [1]
                        }
                            == 2
                    }
                ),
                (
                    "append",
                    {
                        try await $0.append(event(.loginSucceeded))
                        return true
                    }
                ),
                ("delete account", { try await $0.delete(accountID(1), at: nil) }),
                ("free address", { try await $0.free(address("user1@mail.test")) }),
            ]

    /// The same writes on a connection that breaks before or after each of them, and on one that
    /// does not, have the same results and leave the same events.
    @Test(arguments: [CuttingProxy.Cut.answer, .request])
    func aWriteWhoseConnectionIsLostIsMadeOnce(cut: CuttingProxy.Cut) async throws {
        let (store, proxy) = try await open()
        let (calm, calmProxy) = try await open()
        for write in Self.writes {
            proxy.cut(cut)
            #expect(try await write.call(store), "\(write.name)")
            #expect(try await write.call(calm), "\(write.name) without a break")
        }
        #expect(proxy.cuts == Self.writes.count)
        let events = try await store.events(after: nil, limit: 100).map(\.event)
        #expect(try await calm.events(after: nil, limit: 100).map(\.event) == events)
        for each in [store, calm] {
            #expect(
                try await each.accountEvents(after: 0, limit: 100).map(\.kind) == [
                    .accountCreated, .accountCreated, .accountDisabled, .quotaChanged,
                    .accountDeleted, .addressFreed,
                ])
        }
        // The token of the replaced password has an event of its own.
        #expect(events.filter { $0.kind == .tokenRevoked }.count == 1)
        #expect(try await store.keys() == calm.keys())
        #expect(try await !store.spend("one", expiry: Instant(seconds: 9)))
        proxy.close()
        calmProxy.close()
    }

    /// The number of a closed descriptor is given to the next one, such as a listening socket.
    @Test func aLostConnectionIsNotWatched() async throws {
        let loop = try EventLoop(label: "test")
        loop.run()
        defer { loop.stop() }
        let (store, proxy) = try await open(on: [loop])
        proxy.cut(.answer)
        #expect(try await store.insert(user(1)))
        #expect(proxy.cuts == 1)
        await store.close()
        let isWatching = await withCheckedContinuation { continuation in
            loop.perform {
                let found = (0..<4096).filter { loop.serve($0) }
                continuation.resume(returning: !found.isEmpty)
            }
        }
        #expect(!isWatching)
        proxy.close()
    }

    @Test func aSpendByAnotherIsNotTakenForOnesOwn() async throws {
        let (store, proxy) = try await open()
        #expect(try await store.spend("one", expiry: Instant(seconds: 9)))
        proxy.cut(.answer)
        #expect(try await !store.spend("one", expiry: Instant(seconds: 9)))
        #expect(proxy.cuts == 1)
        proxy.close()
    }

    @Test func aChangeThatWasNotOnesOwnIsNotClaimed() async throws {
        let (store, proxy) = try await open()
        #expect(try await store.insert(account(1)))
        #expect(
            try await store.replaceCredential(of: accountID(1), at: 1, with: .apiKey(digest(7))))
        for cut in [CuttingProxy.Cut.answer, .request] {
            proxy.cut(cut)
            #expect(
                try await !store.replaceCredential(
                    of: accountID(1), at: 1, with: .apiKey(digest(8))))
        }
        #expect(try await store.account(apiKey: digest(7)) != nil)
        proxy.close()
    }

    /// Made twice they would have another effect, and what was made cannot be told.
    @Test(arguments: [CuttingProxy.Cut.answer, .request])
    func writesThatCannotBeRepeatedReportThatTheStoreIsBusy(cut: CuttingProxy.Cut) async throws {
        let (store, proxy) = try await open()
        #expect(try await store.spend("one", expiry: Instant(seconds: 9)))
        proxy.cut(cut)
        await #expect(throws: StoreBusy.self) { try await store.restore("one") }
        proxy.cut(cut)
        await #expect(throws: StoreBusy.self) { try await store.append(event(.loginFailed)) }
        #expect(proxy.cuts == 2)
        proxy.close()
    }

    /// With one connection: a second one could be opened while the answer to its first message is
    /// cut, and after that no call tries to connect for a moment.
    @Test func aReadIsRepeated() async throws {
        let (store, proxy) = try await open()
        #expect(try await store.insert(account(1)))
        for _ in 0..<5 {
            proxy.cut(.answer)
            #expect(try await store.account(id: accountID(1)) != nil)
            proxy.breakConnections()
            #expect(try await store.account(id: accountID(1)) != nil)
        }
        proxy.close()
    }

    /// After a failover the other connections are not used until each of them has timed out.
    @Test func afterALossEveryConnectionIsOpenedAgain() async throws {
        let (store, proxy) = try await open(connections: 4)
        _ = try await winners(of: 200) { _ in
            try await store.accounts(after: nil, limit: 1).isEmpty
        }
        let before = proxy.connections
        proxy.cut(.answer)
        #expect(try await store.account(id: accountID(1)) == nil)
        _ = try await winners(of: 200) { _ in
            try await store.accounts(after: nil, limit: 1).isEmpty
        }
        #expect(proxy.connections >= before + 2)
        proxy.close()
    }

    /// A host whose machine is gone accepts nothing and refuses nothing, so that each new
    /// connection would wait for it.
    @Test func aHostThatDoesNotAnswerIsNotTriedFirstAgain() async throws {
        let database = try TestServer.shared.makeDatabase()
        let gone = try CuttingProxy(to: try TestServer.shared.socketDirectory())
        gone.ignore()
        let proxy = try CuttingProxy(to: try TestServer.shared.socketDirectory())
        let behind = try TestServer.shared.url(of: database, behind: proxy)
        let url = try #require(
            PostgresURL(
                behind.text.replacing("host=", with: "host=\(gone.directory.path),")
                    + "&connect_timeout=2"))
        let store = try await PostgresStore.open(url, settings: TestServer.settings, at: .epoch)
        _ = try await store.changeCount()
        // The migration and the first connection of the store, which had no host to prefer yet.
        #expect(gone.connections == 2)
        for _ in 0..<3 {
            proxy.breakConnections()
            _ = try await winners(of: 50) { _ in
                try await store.account(id: accountID(1)) == nil
            }
            _ = try? await store.changeCount()
        }
        #expect(gone.connections == 2)
        gone.close()
        proxy.close()
    }

    /// As when the server has fewer connections left than this program may open.
    @Test func connectionsThatAreThereServeThoseThatCannotBeOpened() async throws {
        let (store, proxy) = try await open(connections: 4)
        proxy.refuse(true)
        let answered = try await winners(of: 200) { _ in
            try await store.account(id: accountID(1)) == nil
        }
        #expect(answered == 200)
        #expect(try await store.insert(account(1)))
        proxy.close()
    }

    @Test func aServerThatCannotBeReachedIsBusyAndReportedOnce() async throws {
        let database = try TestServer.shared.makeDatabase()
        let proxy = try CuttingProxy(to: try TestServer.shared.socketDirectory())
        let heard = Recorder()
        let store = try await PostgresStore.open(
            try TestServer.shared.url(of: database, behind: proxy), settings: TestServer.settings,
            observers: StoreObservers(unreachable: { heard.add($0 == nil ? "back" : "gone") }),
            at: .epoch)
        proxy.refuse(true)
        proxy.breakConnections()
        for _ in 0..<3 {
            await #expect(throws: StoreBusy.self) { try await store.account(id: accountID(1)) }
            await #expect(throws: StoreBusy.self) { try await store.ping() }
        }
        await #expect(throws: StoreBusy.self) { try await store.changeCount() }
        #expect(heard.texts == ["gone"])
        proxy.refuse(false)
        // For a moment after a failure nobody tries again.
        while true {
            do {
                #expect(try await store.account(id: accountID(1)) == nil)
                break
            } catch is StoreBusy {}
        }
        try await store.ping()
        _ = try await store.changeCount()
        #expect(heard.texts == ["gone", "back"])
        proxy.close()
    }

    @Test func aWriteEndsOnceTheServerIsBack() async throws {
        let (store, proxy) = try await open()
        proxy.cut(.answer)
        proxy.refuse(true)
        let writing = Task { try await store.insert(account(1)) }
        while proxy.cuts == 0 { await Task.yield() }
        try await Task.sleep(for: .milliseconds(400))
        proxy.refuse(false)
        #expect(try await writing.value)
        #expect(try await store.subjects.count == 1)
        proxy.close()
    }
}
