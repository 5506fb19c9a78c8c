import Testing

@testable import LocalMail

@Suite final class FolderSetTests {
    let world = MailWorld()
    var box: AccountMail { world.box(world.ann) }

    deinit { world.end() }

    private func set(_ change: (inout FolderSet) -> Void) throws -> MailSetResult<
        MailFolder, FolderSetError
    > {
        var set = FolderSet()
        change(&set)
        return try box.setFolders(set)
    }

    private func make(_ name: String, in parent: String? = nil) throws -> MailFolder {
        let result = try set { $0.create = [("k", FolderDraft(name: name, parentID: parent))] }
        return try result.created[0].result.get()
    }

    private func failure<T>(_ result: Result<T, FolderSetError>?) -> FolderSetError? {
        if case .failure(let error)? = result { error } else { nil }
    }

    @Test func aNewAccountHasAFolderOfEachRole() {
        let folders = box.folders().list
        #expect(folders.map(\.role) == FolderRole.allCases)
        #expect(folders.map(\.name) == ["Inbox", "Drafts", "Sent", "Archive", "Junk", "Trash"])
        #expect(folders.allSatisfy { $0.counts == FolderCounts() && $0.parentID == nil })
    }

    @Test func namesAreUniqueAmongSiblings() throws {
        let one = try make("a")
        let inside = try make("a", in: one.id)
        #expect(inside.parentID == one.id)
        let again = try set { $0.create = [("k", FolderDraft(name: "a"))] }
        #expect(failure(again.created[0].result) == .invalidProperties(["name"]))
        let moved = try set {
            var patch = FolderPatch()
            patch.parent = .top
            $0.update = [(inside.id, patch)]
        }
        #expect(failure(moved.updated[0].result) == .invalidProperties(["name"]))
    }

    @Test(arguments: ["", "a\u{0}", "a\nb", String(repeating: "x", count: 256)])
    func invalidNamesAreRejected(name: String) throws {
        let result = try set { $0.create = [("k", FolderDraft(name: name))] }
        #expect(failure(result.created[0].result) == .invalidProperties(["name"]))
    }

    @Test func aFolderIsNeverInItself() throws {
        let one = try make("1")
        let two = try make("2", in: one.id)
        let three = try make("3", in: two.id)
        for target in [one, two, three] {
            let result = try set {
                var patch = FolderPatch()
                patch.parent = .folder(target.id)
                $0.update = [(one.id, patch)]
            }
            #expect(failure(result.updated[0].result) == .invalidProperties(["parentId"]))
        }
    }

    @Test func foldersAreAtMostTenDeep() throws {
        var parent: String?
        var ids: [String] = []
        for depth in 1...10 {
            parent = try make("d\(depth)", in: parent).id
            ids.append(parent ?? "")
        }
        let deeper = try set { $0.create = [("k", FolderDraft(name: "x", parentID: parent))] }
        #expect(failure(deeper.created[0].result) == .invalidProperties(["parentId"]))
        // Moving a tree below another counts its own levels.
        let other = try make("other")
        let result = try set {
            var patch = FolderPatch()
            patch.parent = .folder(other.id)
            $0.update = [(ids[0], patch)]
        }
        #expect(failure(result.updated[0].result) == .invalidProperties(["parentId"]))
    }

    @Test func aCreationMayNameALaterOne() throws {
        let result = try set {
            $0.create = [
                ("child", FolderDraft(name: "c", parentID: "#parent")),
                ("parent", FolderDraft(name: "p")),
                ("orphan", FolderDraft(name: "o", parentID: "#none")),
            ]
        }
        let parent = try result.created[1].result.get()
        #expect(try result.created[0].result.get().parentID == parent.id)
        #expect(failure(result.created[2].result) == .invalidProperties(["parentId"]))
        #expect(result.newState == box.states[.mailbox])
    }

    @Test func aFolderWithChildrenOrMailIsNotDestroyed() async throws {
        let one = try make("1")
        _ = try make("2", in: one.id)
        let child = try set { $0.destroy = [one.id] }
        #expect(failure(child.destroyed[0].result) == .mailboxHasChild)
        let two = try make("3")
        let message = await world.deliver()
        var move = EmailSet()
        move.update = [(message, EmailPatch(folderIDs: .replace([two.id])))]
        _ = try box.setEmails(move)
        let full = try set { $0.destroy = [two.id] }
        #expect(failure(full.destroyed[0].result) == .mailboxHasEmail)
    }

    @Test func destroyingWithItsMailKeepsWhatIsElsewhere() async throws {
        let folder = try make("1")
        let inbox = world.folder(.inbox, of: world.ann).id
        let (both, only) = (await world.deliver(), await world.deliver())
        var move = EmailSet()
        move.update = [
            (both, EmailPatch(folderIDs: .patch([folder.id: true]))),
            (only, EmailPatch(folderIDs: .replace([folder.id]))),
        ]
        _ = try box.setEmails(move)
        let result = try set {
            $0.destroy = [folder.id]
            $0.removesEmails = true
        }
        #expect(failure(result.destroyed[0].result) == nil)
        #expect(box.emails([both, only]).list.map(\.folderIDs) == [[inbox]])
    }

    @Test func theInboxStays() throws {
        let inbox = world.folder(.inbox, of: world.ann)
        #expect(!inbox.mayDelete)
        let result = try set { $0.destroy = [inbox.id] }
        #expect(failure(result.destroyed[0].result) == .forbidden)
    }

    @Test func anotherStateChangesNothing() throws {
        let old = box.states[.mailbox]
        _ = try make("a")
        #expect(throws: MailStateMismatch()) {
            try set {
                $0.ifInState = old
                $0.create = [("k", FolderDraft(name: "b"))]
            }
        }
        #expect(box.folders().list.count == 7)
    }

    @Test func whatIsDestroyedIsNotUpdated() throws {
        let folder = try make("a")
        let result = try set {
            $0.update = [(folder.id, FolderPatch()), ("F1", FolderPatch())]
            $0.destroy = [folder.id, "x"]
        }
        #expect(failure(result.updated[0].result) == .willDestroy)
        #expect(failure(result.updated[1].result) == .notFound)
        #expect(failure(result.destroyed[0].result) == nil)
        #expect(failure(result.destroyed[1].result) == .notFound)
    }

    @Test func theNumberOfFoldersIsLimited() throws {
        var limits = MailLimits()
        limits.folders = 7
        let world = MailWorld(limits: limits)
        defer { world.end() }
        var set = FolderSet()
        set.create = [("1", FolderDraft(name: "1")), ("2", FolderDraft(name: "2"))]
        let result = try world.box(world.ann).setFolders(set)
        #expect(failure(result.created[0].result) == nil)
        #expect(failure(result.created[1].result) == .forbidden)
    }
}
