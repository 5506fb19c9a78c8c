import LocalMail
import TestPrimitives
import Testing

/// Random operations on one account, compared with what is computed anew from its messages.
@Suite struct ModelTests {
    static let queries: [MailQuery] = {
        let keyword = MailFilter.condition(.hasKeyword("$seen"))
        return [
            MailQuery(),
            MailQuery(sort: [MailSort(.receivedAt)]),
            MailQuery(collapseThreads: true),
            MailQuery(filter: keyword, sort: [MailSort(.size, isAscending: false)]),
            MailQuery(
                filter: .none([keyword]), sort: [MailSort(.subject), MailSort(.from)],
                collapseThreads: true),
            MailQuery(
                filter: .condition(.someInThreadHaveKeyword("a")),
                sort: [MailSort(.allInThreadHaveKeyword("$seen")), MailSort(.receivedAt)]),
            MailQuery(filter: .condition(.subject("s1")), sort: [MailSort(.hasKeyword("a"))]),
            MailQuery(filter: .condition(.body("odd"))),
        ]
    }()

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func changesAndCountsAgreeWithTheMessages(seed: UInt64) async throws {
        let world = MailWorld()
        defer { world.end() }
        var model = MailModel(world: world, seed: seed)
        for _ in 0..<250 {
            try await model.act()
            if model.number(below: 3) == 0 { try model.checkCounts() }
            if model.number(below: 10) == 0 { try model.checkChanges() }
            if model.number(below: 8) == 0 { model.remember() }
        }
        try model.checkChanges()
    }
}

private struct MailModel {
    let world: MailWorld
    let box: AccountMail
    private var generator: SeededGenerator
    private var snapshots: [Snapshot] = []
    private var operations = 0

    private struct Snapshot {
        let states: MailStates
        let emails: Set<String>
        let threads: [String: [String]]
        let folders: [MailFolder]
        let results: [[String]]
        let folderResults: [[String]]
    }

    static let folderQueries: [FolderQuery] = {
        var tree = FolderQuery(filter: .isSubscribed(true), sort: [.init(.name)])
        tree.sortAsTree = true
        tree.filterAsTree = true
        return [
            FolderQuery(sort: [.init(.sortOrder), .init(.name, isAscending: false)]), tree,
            FolderQuery(filter: .hasAnyRole(false)),
        ]
    }()

    init(world: MailWorld, seed: UInt64) {
        self.world = world
        box = world.box(world.ann)
        generator = SeededGenerator(seed: seed)
        remember()
    }

    mutating func number(below limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

    mutating func remember() {
        snapshots.append(snapshot())
        if snapshots.count > 4 { snapshots.removeFirst() }
    }

    mutating func act() async throws {
        operations += 1
        switch number(below: 10) {
        case 0...3: await deliver()
        case 4...6: try updateEmail()
        case 7: try destroyEmail()
        default: try changeFolders()
        }
    }

    private mutating func deliver() async {
        let (thread, old) = (number(below: 8), number(below: 5) == 0)
        let fields =
            "Message-ID: m\(operations)|References: t\(thread)|Subject: Re: s\(thread % 3)"
            + "|From: p\(number(below: 4)) <p@x>"
        let body = number(below: 2) == 0 ? "odd" : "even"
        guard old else {
            await world.deliver(fields, body: body)
            return
        }
        // Older than others, into two folders.
        var set = EmailSet()
        let folders = box.folders().list.map(\.id)
        set.create = [
            (
                "k",
                EmailDraft(
                    .bytes(world.message(fields, body: body)),
                    folderIDs: [folders[0], folders[number(below: folders.count)]],
                    keywords: ["a"],
                    receivedAt: MailInstant(milliseconds: Int64(number(below: 2000))))
            )
        ]
        _ = try? box.setEmails(set)
    }

    private mutating func pick() throws -> String? {
        let ids = try box.queryEmails(MailQuery()).ids
        return ids.isEmpty ? nil : ids[number(below: ids.count)]
    }

    private mutating func updateEmail() throws {
        guard let id = try pick() else { return }
        var set = EmailSet()
        let folders = box.folders().list.map(\.id)
        let keyword = ["$seen", "a", "$draft"][number(below: 3)]
        let patch =
            number(below: 3) == 0
            ? EmailPatch(folderIDs: .replace([folders[number(below: folders.count)]]))
            : EmailPatch(keywords: .patch([keyword: number(below: 2) == 0]))
        set.update = [(id, patch)]
        _ = try box.setEmails(set)
    }

    private mutating func destroyEmail() throws {
        guard let id = try pick() else { return }
        var set = EmailSet()
        set.destroy = [id]
        _ = try box.setEmails(set)
    }

    private mutating func changeFolders() throws {
        let folders = box.folders().list
        let folder = folders[number(below: folders.count)]
        var set = FolderSet()
        switch number(below: 3) {
        case 0:
            let parent = number(below: 2) == 0 ? folder.id : nil
            set.create = [("k", FolderDraft(name: "f\(number(below: 5))", parentID: parent))]
        case 1:
            var patch = FolderPatch()
            patch.name = "f\(number(below: 5))"
            patch.isSubscribed = number(below: 2) == 0
            patch.parent = number(below: 2) == 0 ? .top : .folder(folders[0].id)
            set.update = [(folder.id, patch)]
        default:
            guard folder.role == nil else { return }
            set.removesEmails = number(below: 2) == 0
            set.destroy = [folder.id]
        }
        _ = try box.setFolders(set)
    }

    func checkCounts() throws {
        let emails = try all()
        #expect(box.usedBytes == emails.reduce(0) { $0 + $1.size })
        let unread = { (email: MailEmail) in
            !email.keywords.contains("$seen") && !email.keywords.contains("$draft")
        }
        let unreadThreads = Set(emails.filter(unread).map(\.threadID))
        for folder in box.folders().list {
            let inside = emails.filter { $0.folderIDs.contains(folder.id) }
            let threads = Set(inside.map(\.threadID))
            #expect(folder.counts.totalEmails == inside.count)
            #expect(folder.counts.unreadEmails == inside.filter(unread).count)
            #expect(folder.counts.totalThreads == threads.count)
            #expect(folder.counts.unreadThreads == threads.intersection(unreadThreads).count)
            let query = MailQuery(filter: .condition(.inMailbox(folder.id)))
            #expect(try Set(box.queryEmails(query).ids) == Set(inside.map(\.id)))
        }
    }

    private func all() throws -> [MailEmail] {
        box.emails(try box.queryEmails(MailQuery()).ids).list
    }

    private func snapshot() -> Snapshot {
        let emails = (try? all()) ?? []
        let threads = box.threads(Array(Set(emails.map(\.threadID)))).list
        return Snapshot(
            states: box.states, emails: Set(emails.map(\.id)),
            threads: Dictionary(uniqueKeysWithValues: threads.map { ($0.id, $0.emailIDs) }),
            folders: box.folders().list,
            results: ModelTests.queries.map { (try? box.queryEmails($0).ids) ?? [] },
            folderResults: Self.folderQueries.map { (try? box.queryFolders($0).ids) ?? [] })
    }

    mutating func checkChanges() throws {
        let now = snapshot()
        let step = number(below: 3) == 0 ? nil : 1 + number(below: 5)
        for (query, all) in zip(ModelTests.queries, now.results) {
            try checkWindows(query, all: all)
        }
        for old in snapshots {
            let emails = try follow(.email, from: old.states, step: step)
            #expect(emails.applied(to: old.emails) == now.emails)
            let threads = try follow(.thread, from: old.states, step: step)
            #expect(threads.applied(to: Set(old.threads.keys)) == Set(now.threads.keys))
            for (id, members) in now.threads where old.threads[id] != members {
                #expect(threads.touched.contains(id))
            }
            try checkFolders(from: old, to: now, step: step)
            for (index, query) in ModelTests.queries.enumerated() {
                let changes = try box.emailQueryChanges(
                    query, since: old.states[.email], calculateTotal: true)
                #expect(changes.applied(to: old.results[index]) == now.results[index], "\(query)")
                #expect(changes.total == now.results[index].count)
            }
            for (index, query) in Self.folderQueries.enumerated() {
                let changes = try box.folderQueryChanges(query, since: old.states[.mailbox])
                #expect(
                    changes.applied(to: old.folderResults[index]) == now.folderResults[index])
            }
        }
    }

    private func checkFolders(from old: Snapshot, to now: Snapshot, step: Int?) throws {
        let folders = try follow(.mailbox, from: old.states, step: step)
        #expect(folders.applied(to: Set(old.folders.map(\.id))) == Set(now.folders.map(\.id)))
        let before = Dictionary(uniqueKeysWithValues: old.folders.map { ($0.id, $0) })
        for folder in now.folders {
            guard let was = before[folder.id], was != folder else { continue }
            #expect(folders.touched.contains(folder.id))
            let isSame =
                was.name == folder.name && was.parentID == folder.parentID
                && was.isSubscribed == folder.isSubscribed
            if !isSame { #expect(!folders.onlyCounts) }
        }
    }

    /// A part of the results is the same part of all results.
    private mutating func checkWindows(_ query: MailQuery, all: [String]) throws {
        var window = QueryWindow()
        window.position = number(below: all.count + 3) - 1
        window.limit = number(below: 5)
        window.calculateTotal = number(below: 2) == 0
        if window.position < 0 || all.isEmpty {
            let result = try box.queryEmails(query, window)
            let start = window.position < 0 ? max(0, all.count - 1) : window.position
            #expect(result.ids == Array(all.dropFirst(start).prefix(window.limit ?? 0)))
            return
        }
        let part = Array(all.dropFirst(window.position).prefix(window.limit ?? 0))
        let result = try box.queryEmails(query, window)
        #expect(result.ids == part)
        #expect(result.total == (window.calculateTotal ? all.count : nil))
        let index = number(below: all.count)
        window.anchor = all[index]
        window.anchorOffset = number(below: 5) - 2
        let anchored = try box.queryEmails(query, window)
        #expect(anchored.position == max(0, index + window.anchorOffset))
        #expect(
            anchored.ids == Array(all.dropFirst(anchored.position).prefix(window.limit ?? 0)))
    }

    private struct Followed {
        var created: [String] = []
        var destroyed: Set<String> = []
        var touched: Set<String> = []
        var onlyCounts = true

        func applied(to old: Set<String>) -> Set<String> {
            old.union(created).subtracting(destroyed)
        }
    }

    /// Asks for changes until there are no more.
    private func follow(_ type: MailType, from old: MailStates, step: Int?) throws -> Followed {
        var followed = Followed()
        var state = old[type]
        while true {
            let changes = try box.changes(of: type, since: state, limit: step)
            let ids = changes.created + changes.updated + changes.destroyed
            #expect(Set(ids).count == ids.count)
            if let step { #expect(ids.count <= step) }
            followed.created += changes.created
            followed.destroyed.formUnion(changes.destroyed)
            followed.touched.formUnion(changes.created + changes.updated)
            if !changes.updated.isEmpty, !changes.onlyCounts { followed.onlyCounts = false }
            guard changes.hasMoreChanges else {
                #expect(changes.newState == box.states[type])
                return followed
            }
            #expect(changes.newState != state)
            state = changes.newState
        }
    }
}

extension MailQueryChanges {
    /// As a client updates its list (RFC 8620 §5.6).
    fileprivate func applied(to old: [String]) -> [String] {
        let removed = Set(removed)
        var list = old.filter { !removed.contains($0) }
        for added in added { list.insert(added.id, at: min(added.index, list.count)) }
        return list
    }
}
