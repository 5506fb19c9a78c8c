import Synchronization
import TestPrimitives
import Testing

@testable import LocalMail

@Suite final class MailStoreTests {
    let world = MailWorld()
    var store: LocalMail { world.mail }

    deinit { world.end() }

    private var far: ContinuousClock.Instant { .now + .seconds(3600) }

    private func move(_ id: String, to role: FolderRole) throws {
        var set = EmailSet()
        set.update = [
            (id, EmailPatch(folderIDs: .replace([world.folder(role, of: world.ann).id])))
        ]
        _ = try world.box(world.ann).setEmails(set)
    }

    @Test func aPageHasThirtyMessagesNewestFirst() async throws {
        var ids: [String] = []
        for _ in 0..<65 { ids.append(await world.deliver("From: A <a@b>|Subject: s")) }
        for (role, index) in [(FolderRole.trash, 64), (.drafts, 63), (.sent, 62)] {
            try move(ids[index], to: role)
        }
        for (role, index) in [(FolderRole.junk, 61), (.archive, 60)] {
            try move(ids[index], to: role)
        }
        let listed = Array(ids[..<62].reversed())
        for page in 1...3 {
            let messages = try await store.messages(of: world.ann, page: page)
            #expect(messages.map(\.id) == Array(listed.dropFirst((page - 1) * 30).prefix(30)))
        }
        for page in [4, 0, -1, .max, .min] {
            #expect(try await store.messages(of: world.ann, page: page).isEmpty)
        }
    }

    @Test func aMessageIsListedWithItsSummary() async throws {
        let id = await world.deliver("From: A <a@b>|Subject: s", body: "hello")
        let listing = try store.content(of: id, of: world.ann).listing
        let source = try store.content(of: id, of: world.ann).content.bytes
        #expect(
            listing
                == MessageListing(
                    id: id, sender: "A", from: "a@b", subject: "s", preview: "hello\n",
                    size: source.count, isRead: false, receivedAt: world.now))
        #expect(source == world.message("From: A <a@b>|Subject: s", body: "hello"))
        for unknown in ["", "M1", "x", id + "0"] {
            await expectNotFound {
                try self.store.content(of: unknown, of: self.world.ann)
            }
        }
        await expectNotFound {
            try self.store.content(of: id, of: self.world.bob)
        }
    }

    @Test func aDeletedMessageIsGone() async throws {
        let id = await world.deliver()
        try await store.delete(id, of: world.ann)
        await expectNotFound {
            try await self.store.delete(id, of: self.world.ann)
        }
        #expect(world.box(world.ann).usedBytes == 0)
    }

    @Test func markingAsReadCountsWhatWasUnread() async throws {
        let ids = [await world.deliver(), await world.deliver(), await world.deliver()]
        #expect(try await store.markRead(.one(ids[0]), of: world.ann) == 1)
        #expect(try await store.markRead(.one(ids[0]), of: world.ann) == 0)
        #expect(try await store.markRead(.several([ids[0], ids[1], "x"]), of: world.ann) == 1)
        try move(ids[2], to: .trash)
        #expect(try await store.markRead(.all, of: world.ann) == 0)
        try move(ids[2], to: .archive)
        #expect(try await store.markRead(.all, of: world.ann) == 1)
        await expectNotFound {
            try await self.store.markRead(.one("M1"), of: self.world.ann)
        }
        #expect(try await store.messages(of: world.ann, page: 1).allSatisfy(\.isRead))
    }

    @Test func aWaitEndsWithTheNextMessage() async throws {
        let (store, world, far) = (store, world, far)
        let ann = world.ann
        let first = await world.deliver()
        async let waited = store.newMessages(of: ann, after: first, until: far)
        await watching(world.box(world.ann))
        // Neither a change of another message nor mail of another account ends it.
        _ = try await store.markRead(.one(first), of: world.ann)
        await world.deliver(to: "bob@here.test")
        let second = await world.deliver()
        #expect(try await waited.map(\.id) == [second])
        #expect(try await store.newMessages(of: world.ann, after: nil, until: .now).isEmpty)
    }

    @Test func aWaitEndsAtItsDeadline() async throws {
        let id = await world.deliver()
        let found = try await store.newMessages(of: world.ann, after: id, until: .now)
        #expect(found.isEmpty)
        #expect(world.box(world.ann).watcherCount == 0)
    }

    @Test func aWaitEndsWithItsAccountOrItsTask() async throws {
        let (store, ann, far) = (store, world.ann, far)
        let removed = Task { try await store.newMessages(of: ann, after: nil, until: far) }
        await watching(world.box(ann))
        world.mail.remove(accountID: "ann")
        #expect(try await removed.value.isEmpty)
        let cancelled = Task { try await store.newMessages(of: ann, after: nil, until: far) }
        await watching(world.box(ann))
        cancelled.cancel()
        #expect(try await cancelled.value.isEmpty)
    }

    @Test func aWaitGivesTheOldestPageAfterAnId() async throws {
        var ids: [String] = []
        for _ in 0..<33 { ids.append(await world.deliver()) }
        try await store.delete(ids[0], of: world.ann)
        let page = try await store.newMessages(of: world.ann, after: ids[0], until: far)
        #expect(page.map(\.id) == Array(ids[1...30].reversed()))
        let rest = try await store.newMessages(of: world.ann, after: page[0].id, until: far)
        #expect(rest.map(\.id) == [ids[32], ids[31]])
        for unknown in ["M1", "x", "Mffffffffffffffff"] {
            await expectNotFound {
                try await self.store.newMessages(
                    of: self.world.ann, after: unknown, until: self.far)
            }
        }
    }

    @Test func statesAreToldOnceHoweverManyChanged() async throws {
        let box = world.box(world.ann)
        let before = box.states
        var changes = box.stateChanges()
        for _ in 0..<5 { await world.deliver() }
        let states = try #require(await changes.next())
        #expect(states == box.states)
        #expect(
            Set(states.changes(since: before))
                == [.mailbox, .email, .thread, .emailDelivery])
        _ = try box.upload([1], type: "")
        var set = EmailSet()
        set.destroy = try box.queryEmails(MailQuery()).ids
        _ = try box.setEmails(set)
        let last = try #require(await changes.next())
        #expect(Set(last.changes(since: states)) == [.mailbox, .email, .thread])
        world.mail.reset()
        while await changes.next() != nil {}
    }

    private func expectNotFound<T>(_ work: () async throws -> T) async {
        let error = await #expect(throws: MailStoreError.self) { _ = try await work() }
        guard case .notFound? = error else {
            Issue.record("not notFound: \(String(describing: error))")
            return
        }
    }

    /// Returns once somebody waits for changes.
    private func watching(_ box: AccountMail) async {
        while box.watcherCount == 0 { await Task.yield() }
    }
}
