import Synchronization
import Testing

@testable import LocalMail

@Suite final class EmailSetTests {
    let world = MailWorld()
    var box: AccountMail { world.box(world.ann) }
    var inbox: String { world.folder(.inbox, of: world.ann).id }
    var drafts: String { world.folder(.drafts, of: world.ann).id }

    deinit { world.end() }

    private func failure<T>(_ result: Result<T, EmailSetError>?) -> EmailSetError? {
        if case .failure(let error)? = result { error } else { nil }
    }

    private func create(_ draft: EmailDraft) throws -> Result<CreatedEmail, EmailSetError> {
        var set = EmailSet()
        set.create = [("k", draft)]
        return try box.setEmails(set).created[0].result
    }

    private func update(_ id: String, _ patch: EmailPatch) throws -> Result<Void, EmailSetError> {
        var set = EmailSet()
        set.update = [(id, patch)]
        return try box.setEmails(set).updated[0].result
    }

    @Test func aMessageIsCreatedWithItsFoldersAndKeywords() throws {
        let bytes = world.message("Subject: a")
        let created = try create(
            EmailDraft(
                .bytes(bytes), folderIDs: [drafts, inbox, inbox], keywords: ["$Draft", "b"])
        ).get()
        let email = try #require(box.emails([created.id]).list.first)
        #expect(email.folderIDs == [inbox, drafts].sorted())
        #expect(email.keywords == ["$draft", "b"])
        #expect(email.receivedAt == world.now)
        #expect(email.content.bytes == bytes)
        #expect(created.size == bytes.count && created.threadID == email.threadID)
        #expect(box.blob(created.blobID)?.bytes == bytes)
        #expect(box.blob(created.blobID)?.type == "message/rfc822")
    }

    @Test func whatIsInvalidIsNamed() throws {
        let bytes = EmailDraft.Source.bytes(world.message())
        let cases: [(EmailDraft, EmailSetError)] = [
            (EmailDraft(bytes, folderIDs: []), .invalidProperties(["mailboxIds"])),
            (EmailDraft(bytes, folderIDs: ["F1"]), .invalidProperties(["mailboxIds"])),
            (
                EmailDraft(bytes, folderIDs: [inbox], keywords: ["a b"]),
                .invalidProperties(["keywords"])
            ),
            (
                EmailDraft(bytes, folderIDs: [inbox], keywords: [""]),
                .invalidProperties(["keywords"])
            ),
            (
                EmailDraft(bytes, folderIDs: [inbox], keywords: (0..<101).map { "k\($0)" }),
                .tooManyKeywords
            ),
            (EmailDraft(.blob("B1"), folderIDs: [inbox]), .blobNotFound("B1")),
            (
                EmailDraft(.bytes([UInt8](repeating: 1, count: 10 << 20 + 1)), folderIDs: [inbox]),
                .tooLarge(10 << 20)
            ),
        ]
        for (draft, error) in cases { #expect(failure(try create(draft)) == error) }
        #expect(box.usedBytes == 0)
    }

    @Test func patchesAddAndRemoveMembers() async throws {
        let id = await world.deliver()
        _ = try update(id, EmailPatch(keywords: .replace(["A", "b"]))).get()
        _ = try update(id, EmailPatch(keywords: .patch(["a": false, "B": true, "$Seen": true])))
            .get()
        #expect(box.emails([id]).list[0].keywords == ["$seen", "b"])
        _ = try update(id, EmailPatch(folderIDs: .patch([drafts: true, inbox: false]))).get()
        #expect(box.emails([id]).list[0].folderIDs == [drafts])
        let none = try update(id, EmailPatch(folderIDs: .patch([drafts: false])))
        #expect(failure(none) == .invalidProperties(["mailboxIds"]))
    }

    @Test func anUpdateThatChangesNothingHasNoNewState() async throws {
        let id = await world.deliver()
        let old = box.states
        _ = try update(id, EmailPatch(folderIDs: .replace([inbox]), keywords: .replace([]))).get()
        #expect(box.states == old)
    }

    @Test func creationsCanBeUpdatedAndDestroyedInTheSameCall() throws {
        var set = EmailSet()
        let draft = EmailDraft(.bytes(world.message()), folderIDs: [inbox])
        set.create = [("a", draft), ("b", draft)]
        set.update = [("#a", EmailPatch(keywords: .replace(["x"]))), ("#c", EmailPatch())]
        set.destroy = ["#b", "#c", "M1"]
        let result = try box.setEmails(set)
        #expect(failure(result.updated[0].result) == nil)
        #expect(failure(result.updated[1].result) == .notFound)
        #expect(result.destroyed.map { failure($0.result) } == [nil, .notFound, .notFound])
        let changes = try box.changes(of: .email, since: result.oldState, limit: nil)
        #expect(changes.created == [try result.created[0].result.get().id])
        #expect(changes.updated.isEmpty && changes.destroyed.isEmpty)
    }

    @Test func anotherStateChangesNothing() async throws {
        let old = box.states[.email]
        let id = await world.deliver()
        var set = EmailSet()
        set.ifInState = old
        set.destroy = [id]
        #expect(throws: MailStateMismatch()) { try box.setEmails(set) }
        #expect(box.emails([id]).list.count == 1)
    }

    @Test func theQuotaIsKept() throws {
        let bytes = world.message("Subject: a")
        world.quota.withLock { $0 = bytes.count * 2 }
        let draft = EmailDraft(.bytes(bytes), folderIDs: [inbox])
        let results = [try create(draft), try create(draft), try create(draft)]
        #expect(results.map { failure($0) } == [nil, nil, .overQuota])
        #expect(box.usedBytes == bytes.count * 2)
    }

    @Test func anImportSharesTheBytesOfItsBlob() throws {
        let bytes = world.message("Subject: a", body: String(repeating: "x", count: 1000))
        let blob = try box.upload(bytes, type: "message/rfc822")
        let before = world.mail.totalBytes
        let one = try create(EmailDraft(.blob(blob), folderIDs: [inbox])).get()
        let two = try create(EmailDraft(.blob(one.blobID), folderIDs: [drafts])).get()
        #expect(world.mail.totalBytes == before && before == bytes.count)
        #expect(box.emails([one.id, two.id]).list.map(\.content.summary.subject) == ["a", "a"])
        #expect(box.usedBytes == bytes.count * 2)
    }

    @Test func uploadsLastAnHourAndTheOldestGoFirst() throws {
        var limits = MailLimits()
        limits.uploadedBytes = 10
        let world = MailWorld(limits: limits)
        defer { world.end() }
        let box = world.box(world.ann)
        let one = try box.upload([1, 2, 3, 4], type: "a/b")
        let two = try box.upload([5, 6, 7, 8], type: "a/b")
        #expect(box.blob(one)?.bytes == [1, 2, 3, 4] && box.blob(one)?.type == "a/b")
        let three = try box.upload([9, 10, 11], type: "a/b")
        #expect(box.blob(one) == nil && box.blob(two) != nil && box.blob(three) != nil)
        #expect(world.mail.totalBytes == 7)
        #expect(throws: UploadError.tooLarge(10)) { try box.upload([UInt8](0..<11), type: "") }
        #expect(world.box(world.bob).blob(two) == nil)
        world.advance(3_599_999)
        #expect(box.blob(two) != nil)
        world.advance(1)
        #expect(box.blob(two) == nil)
    }
}
