import AuthCore
import Testing

@testable import AuthStorage

/// A SQLite database with something in every table, and its copy.
@Suite struct DatabaseCopyTests {
    private struct Stopped: Error {}

    private let totp = StoredTOTP(
        owner: userID(1), sealedSecret: [0, 1, 2], lastStep: 55, created: .epoch)

    private let link = EmailLink(
        digest: digest(1), owner: userID(1), purpose: .operatorReset,
        expiry: Instant(milliseconds: 7))

    private func source() async throws -> (directory: TemporaryDirectory, store: SQLiteStore) {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        #expect(try await store.insert(user(1)))
        #expect(try await store.insert(user(2, state: .disabled)))
        let verified = User(
            id: userID(3), email: try email("verified@example.test"), password: nil,
            created: .epoch, emailVerified: Instant(milliseconds: 7))
        #expect(try await store.insert(verified))
        for number in 1...2 { #expect(try await store.insert(session(number))) }
        let passkey = Passkey(
            id: PasskeyID(random: [UInt8](repeating: 3, count: 16)), owner: userID(1),
            name: "phone", credential: [0, 255], publicKey: "key", signatureCount: 4_294_967_295,
            isSynced: true, created: .epoch, lastUsed: Instant(milliseconds: 7))
        #expect(
            try await store.insert(passkey, limit: 1, recording: event(.passkeyAdded))
                == .inserted)
        for (number, used) in [(1, nil), (2, Instant(milliseconds: 7))] {
            let identity = Identity(
                id: IdentityID(random: [UInt8](repeating: UInt8(number), count: 16)),
                owner: userID(1), provider: "id", issuer: "https://id\(number).test",
                subject: "subject", email: used == nil ? nil : "a@example.test", created: .epoch,
                lastUsed: used)
            #expect(
                try await store.insert(identity, at: 1, recording: event(.identityLinked))
                    == .inserted)
        }
        #expect(
            try await store.insert(
                totp, recoveryCodes: (0..<1203).map { digest($0) },
                recording: event(.totpEnabled)))
        #expect(try await store.insert(link, at: 1, recording: nil))
        for number in 0..<1203 {
            #expect(
                try await store.insert(account(number, owner: number % 2 == 0 ? userID(1) : nil)))
        }
        #expect(try await store.delete(accountID(4), at: nil))
        #expect(try await store.delete(accountID(5), at: nil))
        #expect(
            try await store.replaceCredential(of: accountID(6), at: 1, with: .password(hash("x"))))
        #expect(try await store.spend("spent", expiry: Instant(seconds: 100)))
        #expect(try await store.insertFirst(key("a")))
        try await store.rotate(to: key("b", created: 2), retiring: Instant(milliseconds: 10))
        #expect(try await store.insert(token(1, revoked: 5)))
        #expect(try await store.insert(token(2)))
        #expect(try await store.insert(domain(1)) == .inserted)
        #expect(try await store.insert(domain(2, of: nil)) == .inserted)
        _ = try await store.setVerification(of: domainID(1), to: .verified, at: 5)
        for name in ["a@x.test", "b@x.test"] {
            let login = HashLogin(
                email: try email(name), url: HashURL(text: "https://x.test/h"),
                credentialVersion: 3,
                created: .epoch)
            #expect(try await store.insert(login, recording: event(.hashLoginCreated)))
        }
        #expect(
            try await store.deleteHashLogin(
                of: email("b@x.test"), recording: event(.hashLoginDeleted)))
        for _ in 0..<3 { try await store.append(event(.loginFailed, "x")) }
        #expect(
            try await store.trimAccountEvents(
                before: Instant(seconds: 9), limit: 3, keepingUndelivered: false) == 3)
        let taken = try await store.takeDueEvents(
            at: Instant(seconds: 9), until: Instant(seconds: 39), limit: 2)
        let first = try #require(taken.first).event.number
        #expect(try await store.noteAccepted(first, at: .epoch))
        return (directory, store)
    }

    private func copy(
        _ directory: TemporaryDirectory, _ target: PostgresURL, stopAfter pages: Int = .max
    ) throws -> [CopiedRows] {
        var calls = 0
        return try DatabaseCopy(
            from: .file(directory.database), to: target, settings: TestServer.settings
        ).run(at: .epoch) { _ in
            calls += 1
            if calls > pages { throw Stopped() }
        }
    }

    @Test func theCopyAnswersAsItsSource() async throws {
        let (directory, old) = try await source()
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        let copied = try copy(directory, url)
        #expect(copied.first { $0.table == "accounts" }?.count == 1201)
        #expect(copied.first { $0.table == "retired addresses" }?.count == 2)
        let new = try await PostgresStore.open(url, settings: TestServer.settings, at: .epoch)
        #expect(
            try await new.accounts(after: nil, limit: .max) == old.accounts(after: nil, limit: .max)
        )
        #expect(try await new.users(after: nil, limit: 9) == old.users(after: nil, limit: 9))
        let sessions = try await new.sessions(of: userID(1), at: .epoch)
        #expect(try await sessions == old.sessions(of: userID(1), at: .epoch))
        #expect(sessions.count == 2)
        let passkeys = try await new.passkeys(of: userID(1))
        #expect(try await passkeys == old.passkeys(of: userID(1)))
        let identities = try await new.identities(of: userID(1))
        #expect(try await identities == old.identities(of: userID(1)))
        #expect(identities.count == 2)
        let factors = try await new.factors(of: userID(1))
        #expect(factors == Factors(totpCreated: .epoch, recoveryCodes: 1203, passkeys: 1))
        #expect(try await new.beginGuess(of: userID(1), at: .epoch) == .allowed(totp))
        #expect(try await new.emailLink(link.digest, at: .epoch)?.link == link)
        #expect(try await new.holdings(of: userID(1)) == old.holdings(of: userID(1)))
        #expect(try await new.holdings(of: userID(2)) == (0, 0))
        #expect(try await new.tokens(of: userID(1)) == old.tokens(of: userID(1)))
        #expect(
            try await new.domains(after: nil, limit: 9) == old.domains(after: nil, limit: 9))
        #expect(try await new.keys() == old.keys())
        #expect(
            try await new.events(after: nil, limit: .max) == old.events(after: nil, limit: .max))
        #expect(
            try await new.accountEvents(after: 0, limit: .max)
                == old.accountEvents(after: 0, limit: .max))
        #expect(try await new.lastAccountEvent() == 1205)
        #expect(try await new.deliveryStatus(limit: 9) == old.deliveryStatus(limit: 9))
        #expect(try await !new.spend("spent", expiry: Instant(seconds: 1)))
        #expect(try await new.hashLogin(email: email("a@x.test")) != nil)
        #expect(try await new.hashLogin(email: email("b@x.test")) == nil)
        for store: any EngineStore in [old, new] {
            // A deleted address stays retired, and its owner's deletions count.
            #expect(try await !store.insert(account(3000, "user4@mail.test")))
            #expect(try await store.free(address("user4@mail.test")))
            #expect(try await store.insert(account(3000, "user4@mail.test")))
            let later = try await store.accountEvents(after: 1205, limit: 9)
            #expect(later.map(\.account) == [accountID(4), accountID(3000)])
        }
        #expect(
            try await new.events(after: nil, limit: .max) == old.events(after: nil, limit: .max))
    }

    @Test(arguments: [0, 1, 3, 12])
    func aCopyThatWasInterruptedCanBeRunAgain(pages: Int) async throws {
        let (directory, old) = try await source()
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        #expect(throws: Stopped.self) { try copy(directory, url, stopAfter: pages) }
        // No server starts on half of the data.
        await #expect(throws: MigrationError.incomplete(path: url.shown)) {
            try await PostgresStore.open(url, settings: TestServer.settings, at: .epoch)
        }
        _ = try copy(directory, url)
        let store = try await PostgresStore.open(url, settings: TestServer.settings, at: .epoch)
        #expect(try await store.accounts(after: nil, limit: .max).count == 1201)
        #expect(try await store.holdings(of: userID(1)) == old.holdings(of: userID(1)))
    }

    @Test func aTargetWithOtherDataIsNotChanged() async throws {
        let (directory, _) = try await source()
        let url = try TestServer.shared.makeDatabase()
        let store = try await PostgresStore.open(url, settings: TestServer.settings, at: .epoch)
        #expect(try await store.insert(account(1, "theirs@mail.test")))
        #expect(throws: CopyError.filledTarget(name: url.shown)) { try copy(directory, url) }
        #expect(try await store.accounts(after: nil, limit: .max).count == 1)
        // Nor is a complete copy copied to again.
        let other = try TestServer.shared.makeDatabase()
        _ = try copy(directory, other)
        #expect(throws: CopyError.filledTarget(name: other.shown)) { try copy(directory, other) }
    }

    @Test func aRowThatDiffersIsFound() async throws {
        let (directory, _) = try await source()
        let url = try TestServer.shared.makeDatabase(isMigrated: false)
        #expect(throws: Stopped.self) { try copy(directory, url, stopAfter: 5) }
        let other = try TestServer.shared.connect(to: url)
        try other.execute(
            script: "UPDATE account SET quota = quota + 1 WHERE id = '\(accountID(9))'",
            name: "change")
        #expect(throws: CopyError.different(table: "accounts", source: 1201, target: 1201)) {
            try copy(directory, url)
        }
    }

    @Test func onlyFromSQLiteToPostgres() throws {
        let file = try Database(url: "sqlite:/nonexistent/a.db")
        let server = try Database(url: "postgresql:///d")
        #expect(throws: CopyError.wrongEngines) { try server.copy(to: file, at: .epoch) }
        #expect(throws: CopyError.wrongEngines) { try file.copy(to: file, at: .epoch) }
        #expect(throws: CopyError.noSource(path: "/nonexistent/a.db")) {
            try file.copy(to: server, at: .epoch)
        }
    }
}
