import Synchronization
import TestPrimitives
import Testing

@testable import LocalMail

@Suite final class DeliveryTests {
    let world = MailWorld()
    var mail: LocalMail { world.mail }

    deinit { world.end() }

    private func send(to recipients: [String], _ message: [UInt8]? = nil) async -> [DeliveryResult]
    {
        await mail.deliver(message ?? world.message("Subject: s"), from: "x@y", to: recipients)
    }

    private func failures(_ results: [DeliveryResult]) -> [DeliveryFailure?] {
        results.map { if case .failed(let failure) = $0.outcome { failure } else { nil } }
    }

    @Test func eachRecipientHasAResult() async throws {
        let results = await send(to: [
            "ann@here.test", "ANN+tag@here.test", "bob@there.test", "nobody@here.test",
            "busy@here.test", "Bob@There.test",
        ])
        #expect(results.map(\.recipient).count == 5)
        #expect(failures(results) == [nil, nil, nil, .unknownRecipient, .temporary])
        #expect(results[2].outcome == .captured)
        let inbox = try world.box(world.ann).queryEmails(
            MailQuery(filter: .condition(.inMailbox(world.folder(.inbox, of: world.ann).id))))
        #expect(inbox.ids.count == 2)
        #expect(world.arrived.entries == inbox.ids.reversed().map { "ann \($0)" })
    }

    @Test func theTraceComesBeforeTheMessage() async throws {
        let message = world.message("Subject: s")
        _ = await mail.deliver(
            message, trace: Array("Return-Path: <x@y>\r\n".utf8), from: "x@y",
            to: ["ann@here.test"])
        let listing = try await mail.messages(of: world.ann, page: 1)[0]
        let source = try mail.content(of: listing.id, of: world.ann).content.bytes
        #expect(source == Array("Return-Path: <x@y>\r\n".utf8) + message)
        #expect(world.box(world.ann).usedBytes == source.count)
    }

    @Test func everythingIsListedInOrderAndSharesItsBytes() async throws {
        let message = world.message(body: String(repeating: "x", count: 5000))
        _ = await send(to: ["ann@here.test", "bob@here.test", "c@there.test"], message)
        _ = await send(to: ["nobody@here.test"])
        _ = await send(to: ["d@there.test"], [1, 2])
        #expect(mail.delivered().map(\.number) == [1, 2])
        #expect(mail.delivered().map(\.results.count) == [3, 1])
        #expect(mail.delivered(after: 1).map(\.content.bytes) == [[1, 2]])
        #expect(mail.totalBytes == message.count + 2)
        mail.clearDelivered()
        #expect(mail.delivered().isEmpty && mail.totalBytes == message.count)
        mail.remove(accountID: "ann")
        #expect(mail.totalBytes == message.count)
        mail.remove(accountID: "bob")
        #expect(mail.totalBytes == 0)
        _ = await send(to: ["d@there.test"])
        #expect(mail.delivered().map(\.number) == [3])
    }

    @Test func aFullMailboxTakesNothing() async throws {
        let message = world.message("Subject: s")
        world.quota.withLock { $0 = message.count * 2 - 1 }
        #expect(failures(await send(to: ["ann@here.test"], message)) == [nil])
        #expect(
            failures(await send(to: ["ann@here.test", "bob@here.test"], message))
                == [.mailboxFull, nil])
        #expect(world.box(world.ann).usedBytes == message.count)
        world.quota.withLock { $0 = message.count }
        #expect(await mail.owner(ofRecipient: "ann@here.test") == .failure(.mailboxFull))
        #expect(await mail.owner(ofRecipient: "eve@here.test") == .success(.account(eve)))
    }

    private var eve: MailAccount { MailWorld.account("eve") }

    @Test func allMailTogetherHasALimitAndNothingIsDroppedForIt() async throws {
        var limits = MailLimits()
        limits.totalBytes = 100
        limits.messageBytes = 90
        limits.totalMessages = 3
        let world = MailWorld(limits: limits)
        defer { world.end() }
        func send(_ count: Int, _ name: String) async -> [DeliveryFailure?] {
            failures(
                await world.mail.deliver(
                    [UInt8](repeating: 1, count: count), from: "", to: ["\(name)@here.test"]))
        }
        #expect(await send(91, "ann") == [.messageTooLarge])
        #expect(await send(60, "ann") == [nil])
        #expect(await send(41, "bob") == [.systemFull])
        #expect(await send(40, "bob") == [nil])
        #expect(world.mail.totalBytes == 100)
        #expect(throws: UploadError.overQuota) { try world.box(world.bob).upload([1], type: "") }
        #expect(await send(0, "bob") == [nil])
        #expect(await send(0, "bob") == [.systemFull])
        #expect(world.box(world.ann).usedBytes == 60)
        world.mail.reset()
        #expect(world.mail.totalBytes == 0)
        #expect(await send(90, "ann") == [nil])
    }

    @Test func aTestCanAskForFailures() async {
        let recipients = ["ann@here.test", "a@there.test"]
        for (fault, failure) in [
            (DeliveryFault.recipient, DeliveryFailure.unknownRecipient),
            (.message, .messageRejected), (.temporary, .temporary),
        ] {
            mail.fault = fault
            #expect(failures(await send(to: recipients)) == [failure, failure])
        }
        #expect(await mail.owner(ofRecipient: "ann@here.test") == .failure(.temporary))
        #expect(mail.delivered().isEmpty && world.box(world.ann).usedBytes == 0)
        mail.reset()
        #expect(mail.fault == nil)
        #expect(failures(await send(to: recipients)) == [nil, nil])
    }

    @Test func manyTasksDeliverToManyAccounts() async throws {
        let world = world
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for message in 0..<50 {
                        let recipients = (0..<4).map { "u\((task + message + $0) % 10)@here.test" }
                        _ = await world.mail.deliver(
                            Array("Message-ID: \(task).\(message)\r\n\r\nx".utf8), from: "",
                            to: recipients)
                    }
                }
            }
        }
        var total = 0
        for name in 0..<10 {
            let box = world.box(MailWorld.account("u\(name)"))
            let ids = try box.queryEmails(MailQuery()).ids
            total += ids.count
            #expect(box.folders().list[0].counts.totalEmails == ids.count)
            #expect(box.folders().list[0].counts.totalThreads == ids.count)
            #expect(box.usedBytes == box.emails(ids).list.reduce(0) { $0 + $1.size })
        }
        #expect(total == 8 * 50 * 4)
        #expect(world.mail.delivered().map(\.number) == Array(1...400))
    }

    @Test func anAccountThatWasRemovedTakesNothing() async throws {
        let box = world.box(world.ann)
        let id = await world.deliver()
        let inbox = box.folders().list[0].id
        mail.remove(accountID: "ann")
        #expect(box.emails([id]).list.isEmpty && box.folders().list.isEmpty)
        #expect(throws: UploadError.overQuota) { try box.upload([1], type: "") }
        var set = EmailSet()
        set.create = [("k", EmailDraft(.bytes([1]), folderIDs: [inbox]))]
        let email = try box.setEmails(set).created[0].result
        #expect(throws: EmailSetError.forbidden) { try email.get() }
        var folders = FolderSet()
        folders.create = [("k", FolderDraft(name: "x"))]
        let folder = try box.setFolders(folders).created[0].result
        #expect(throws: FolderSetError.forbidden) { try folder.get() }
        mail.clearDelivered()
        #expect(mail.totalBytes == 0)
    }

    // MARK: Waiting

    private static func wait(
        in mail: LocalMail, after number: Int = 0,
        until deadline: ContinuousClock.Instant = .now + .seconds(600), subject: String
    ) async -> [Int] {
        await mail.delivered(after: number, until: deadline) {
            $0.content.summary.subject == subject
        }.map(\.number)
    }

    @Test func aWaitEndsWithTheFirstMessageThatIsWanted() async {
        let mail = mail
        let waiting = Task { () -> [Int] in
            await DeliveryTests.wait(in: mail, subject: "wanted")
        }
        while mail.deliveries.watcherCount == 0 { await Task.yield() }
        await world.deliver("Subject: other")
        await world.deliver("Subject: wanted")
        #expect(await waiting.value == [2])
        while mail.deliveries.watcherCount > 0 { await Task.yield() }
    }

    @Test func whatWasDeliveredBeforeEndsAWaitAtOnce() async {
        await world.deliver("Subject: wanted")
        await world.deliver("Subject: wanted")
        #expect(await Self.wait(in: mail, subject: "wanted") == [1, 2])
        #expect(await Self.wait(in: mail, after: 1, subject: "wanted") == [2])
    }

    @Test func atTheDeadlineNothingIsReturned() async {
        await world.deliver("Subject: other")
        #expect(await Self.wait(in: mail, until: .now, subject: "wanted") == [])
        while mail.deliveries.watcherCount > 0 { await Task.yield() }
    }

    @Test func aWaitGoesOnWhenAllMailIsRemoved() async {
        await world.deliver("Subject: other")
        let mail = mail
        let waiting = Task { () -> [Int] in
            await DeliveryTests.wait(in: mail, subject: "wanted")
        }
        while mail.deliveries.watcherCount == 0 { await Task.yield() }
        mail.reset()
        await world.deliver("Subject: wanted")
        #expect(await waiting.value == [2])
    }

    @Test func aCancelledWaitEnds() async {
        let mail = mail
        let waiting = Task { () -> [Int] in
            await DeliveryTests.wait(in: mail, subject: "wanted")
        }
        while mail.deliveries.watcherCount == 0 { await Task.yield() }
        waiting.cancel()
        #expect(await waiting.value == [])
        while mail.deliveries.watcherCount > 0 { await Task.yield() }
    }
}
