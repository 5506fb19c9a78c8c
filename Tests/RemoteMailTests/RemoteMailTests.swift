import Fetching
import LocalMail
import Networking
import Scheduling
import StrictJSON
import TestPrimitives
import TestSupport
import Testing

@testable import AuthAPI
@testable import RemoteMail

/// Mail at another server gives what mail in this process gives.
@Suite struct RemoteMailTests {
    private let world = StoreWorld()
    private let ann = StoreWorld.account

    /// One after the other of each pair, from both stores, must be equal.
    private func same<T: Equatable>(
        _ ask: (any MailStore) async throws -> T
    ) async throws -> T {
        let remote = try await ask(world.mail())
        let pool = WorkerPool(name: "mail", lanes: 1, depth: 16)
        let local = LocalMessages(
            mail: world.local, work: MailWork(pool: pool), client: .loopback)
        #expect(try await ask(local) == remote)
        return remote
    }

    @Test func listsAreEqual() async throws {
        var ids: [String] = []
        for _ in 0..<35 {
            world.advance(1000)
            ids.append(await world.deliver())
        }
        for (role, index) in [(FolderRole.trash, 34), (.drafts, 33), (.sent, 32), (.junk, 31)] {
            try world.move(ids[index], to: role)
        }
        for page in 1...3 {
            let messages = try await same { try await $0.messages(of: ann, page: page) }
            #expect(messages.count == [30, 2, 0][page - 1])
        }
        for page in [0, -1, .max, .min] {
            #expect(try await world.mail().messages(of: ann, page: page).isEmpty)
        }
    }

    @Test func aListTakesOneRequestOnceTheAccountIsKnown() async throws {
        let mail = world.mail()
        await world.deliver()
        _ = try await mail.messages(of: ann, page: 1)
        let before = world.requests.entries.count
        _ = try await mail.messages(of: ann, page: 1)
        #expect(world.requests.entries.count == before + 1)
        #expect(world.tokens.entries.count == 1)
    }

    /// The accounts of one client share the connections.
    @Test func eachAccountIsAskedForWithItsOwnCredential() async throws {
        let mail = world.mail()
        let other = mail.store.mail(for: .loopback) { () async throws(MailStoreError) in "other" }
        let bob = MailAccount(id: "bob", address: "bob@here.test")
        for _ in 0..<2 {
            _ = try await mail.messages(of: ann, page: 1)
            _ = try await other.messages(of: bob, page: 1)
        }
        let used = world.requests.entries.map { request in
            request.headers.first { $0.name == "Authorization" }?.value
        }
        #expect(used.count { $0 == "Bearer token1" } == used.count / 2)
        #expect(used.count { $0 == "Bearer other" } == used.count / 2)
    }

    @Test func aFolderThatBecomesTrashIsNoticed() async throws {
        let mail = world.mail()
        let id = await world.deliver()
        #expect(try await mail.messages(of: ann, page: 1).map(\.id) == [id])
        mail.store.accounts.keep(unlisted: ["Fffffffffffffffff"], of: ann.id)
        try world.move(id, to: .trash)
        #expect(try await mail.messages(of: ann, page: 1).isEmpty)
    }

    @Test func messagesAreEqual() async throws {
        for source in [SampleMessage.text, SampleMessage.withAttachments, "Subject: x\n\n", "\n"] {
            let id = await world.deliver(source)
            let listing = try await same { try await $0.message(id, of: ann).listing }
            #expect(!listing.isRead)
            let body = try await same { try await $0.message(id, of: ann).body }
            _ = try await same { try await $0.source(of: id, of: ann) }
            for index in body.attachments.indices {
                _ = try await same { try await $0.attachment(index, of: id, of: ann).content }
                _ = try await same { try await $0.attachment(index, of: id, of: ann).attachment }
            }
        }
    }

    @Test func aMessageIsListedOnce() throws {
        let list = #"""
            {"list":[{"id":"a","from":null,"subject":"s","preview":"p","size":1,"keywords":{},
            "receivedAt":"2026-01-01T00:00:00Z"}]}
            """#
        let object = try #require(try JSONValue.parse(Array(list.utf8)).object)
        let response = Arguments(method: "Email/get", object: object)
        #expect(try EmailReading.listings(response, in: ["a", "b", "a"]).map(\.id) == ["a"])
    }

    @Test func aMessageHasABoundedNumberOfParts() throws {
        func part(_ id: Int, _ type: String) -> String {
            #"{"partId":"\#(id)","type":"\#(type)","size":1}"#
        }
        let texts = (0..<1_001).map { part($0, "text/plain") }.joined(separator: ",")
        let files = (2_000..<3_001).map { part($0, "x/\(String(repeating: "Y", count: 254))") }
        let values = (0..<1_001).map { #""\#($0)":{"value":"a"}"# }.joined(separator: ",")
        let email =
            #"{"textBody":[\#(texts)],"htmlBody":[],"bodyValues":{\#(values)},"#
            + #""attachments":[\#(files.joined(separator: ","))]}"#
        let object = try #require(try JSONValue.parse(Array(email.utf8)).object)
        let body = try MessageBody(Arguments(method: "Email/get", object: object))
        #expect(body.text?.utf8.count == 1_999)
        #expect(body.attachments.count == 1_000)
        #expect(body.attachments.first?.type == "application/octet-stream")
    }

    @Test func unknownMessagesAreNotFound() async throws {
        let known = await world.deliver()
        let mail = world.mail()
        for id in ["", "M1", "a/b", "é", "..", String(repeating: "a", count: 256), "a\"b"] {
            for ask in [
                { _ = try await mail.message(id, of: ann) },
                { _ = try await mail.source(of: id, of: ann) },
                { _ = try await mail.attachment(0, of: id, of: ann) },
                { try await mail.delete(id, of: ann) },
                { _ = try await mail.markRead(.one(id), of: ann) },
                { _ = try await mail.newMessages(of: ann, after: id, until: .now) },
            ] as [() async throws -> Void] {
                #expect(await StoreWorld.failure(ask) == .notFound, "\(id)")
            }
        }
        #expect(
            await StoreWorld.failure { _ = try await mail.attachment(0, of: known, of: ann) }
                == .notFound)
        #expect(
            await StoreWorld.failure { _ = try await mail.attachment(.max, of: known, of: ann) }
                == .notFound)
        #expect(world.reports.entries.isEmpty)
    }

    @Test func aDeletedMessageIsGone() async throws {
        let (mail, id) = (world.mail(), await world.deliver())
        try await mail.delete(id, of: ann)
        #expect(await StoreWorld.failure { try await mail.delete(id, of: ann) } == .notFound)
        #expect(try await world.local.messages(of: ann, page: 1).isEmpty)
    }

    @Test func markingAsReadCountsWhatWasUnread() async throws {
        let mail = world.mail()
        var ids: [String] = []
        for _ in 0..<9 { ids.append(await world.deliver()) }
        #expect(try await mail.markRead(.one(ids[0]), of: ann) == 1)
        #expect(try await mail.markRead(.one(ids[0]), of: ann) == 0)
        // More than one call may name.
        #expect(
            try await mail.markRead(.several(Array(ids[...4]) + ["x", "a/b", ids[1]]), of: ann)
                == 4)
        try world.move(ids[8], to: .trash)
        #expect(try await mail.markRead(.all, of: ann) == 3)
        #expect(try await mail.markRead(.all, of: ann) == 0)
        #expect(try await mail.markRead(.several([]), of: ann) == 0)
    }

    // MARK: Waiting

    @Test func aWaitEndsWithTheNextMessage() async throws {
        let mail = world.mail()
        let first = await world.deliver()
        let far = ContinuousClock.now + .seconds(3600)
        for since in [nil, first] {
            let begun = world.requests.entries.count
            let waited = Task { [ann] in
                try await mail.newMessages(of: ann, after: since, until: far)
            }
            // The state has been asked for, and so has what is new.
            while world.requests.entries.count < begun + 4 { await Task.yield() }
            world.advance(1000)
            let second = await world.deliver()
            #expect(try await waited.value.map(\.id) == [second])
            try await mail.delete(second, of: ann)
        }
    }

    @Test func aMessageThatWasDeletedIsStillAPlaceToGoOnFrom() async throws {
        let mail = world.mail()
        let first = await world.deliver()
        #expect(try await mail.messages(of: ann, page: 1).map(\.id) == [first])
        try await mail.delete(first, of: ann)
        // In the same second.
        let second = await world.deliver()
        #expect(
            try await mail.newMessages(of: ann, after: first, until: .now).map(\.id) == [second])
        try await mail.delete(second, of: ann)
        let third = await world.deliver()
        #expect(
            try await mail.newMessages(of: ann, after: second, until: .now).map(\.id) == [third])
    }

    @Test func aPlaceIsFoundByItsDateOnAnotherNode() async throws {
        var ids: [String] = []
        for _ in 0..<33 {
            world.advance(1000)
            ids.append(await world.deliver())
        }
        let page = try await world.mail().newMessages(of: ann, after: ids[0], until: .now)
        #expect(page.map(\.id) == Array(ids[1...30].reversed()))
        let rest = try await world.mail().newMessages(of: ann, after: page[0].id, until: .now)
        #expect(rest.map(\.id) == [ids[32], ids[31]])
        let none = try await world.mail().newMessages(of: ann, after: ids[32], until: .now)
        #expect(none.isEmpty)
    }

    @Test func whatArrivesElsewhereThanInListedFoldersIsNotNew() async throws {
        let mail = world.mail()
        let first = await world.deliver()
        _ = try await mail.messages(of: ann, page: 1)
        let second = await world.deliver()
        try world.move(second, to: .trash)
        #expect(try await mail.newMessages(of: ann, after: first, until: .now).isEmpty)
    }

    @Test func anEventEndsAWaitBeforeItsNextInterval() async throws {
        let (mail, world) = (world.mail(poll: .seconds(3600)), world)
        let first = await world.deliver()
        world.answer { request in
            guard request.url.contains("/events?") else { return nil }
            #expect(request.url == "http://store.test:8008/base/jmap/events?t=Email&c=state&p=0")
            await world.deliver()
            return FetchedResponse(status: 200, headers: [], body: Array("event: state\n".utf8))
        }
        let far = ContinuousClock.now + .seconds(3600)
        let found = try await mail.newMessages(of: ann, after: first, until: far)
        #expect(found.count == 1)
    }

    @Test func aStoreWithoutEventsIsNotAskedForThemAgain() async throws {
        let mail = world.mail()
        let asked = Level()
        world.answer { request in
            guard request.url.contains("/events?") else { return nil }
            asked.raise()
            return FetchedResponse(status: 204, headers: [], body: [])
        }
        for _ in 0..<2 {
            let begun = world.requests.entries.count
            let waited = Task { [ann] in
                try await mail.newMessages(of: ann, after: nil, until: .now + .seconds(3600))
            }
            await asked.reaches(1)
            // The state has been asked for, and so has what is new.
            while world.requests.entries.count < begun + 4 { await Task.yield() }
            await world.deliver()
            #expect(try await waited.value.count == 1)
        }
        #expect(asked.value == 1)
    }
}
