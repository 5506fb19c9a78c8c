import Synchronization
import Testing

@testable import LocalMail

@Suite final class SubmissionTests {
    let world = MailWorld()
    var box: AccountMail { world.box(world.ann) }

    deinit { world.end() }

    private func draft(_ fields: String) throws -> SubmissionDraft {
        var set = EmailSet()
        set.create = [
            (
                "k",
                EmailDraft(
                    .bytes(world.message(fields)),
                    folderIDs: [world.folder(.drafts, of: world.ann).id])
            )
        ]
        return SubmissionDraft(emailID: try box.setEmails(set).created[0].result.get().id)
    }

    private let fields = "From: ann@here.test|To: bob@here.test|Bcc: c@there.test"

    @Test func aMessageIsDeliveredBeforeItsSubmissionIsAnswered() async throws {
        let draft = try draft(fields)
        let old = box.states[.submission]
        let submission = try await world.mail.submit(draft, from: world.ann) { envelope in
            Array("Return-Path: <\(envelope.mailFrom)>\r\n".utf8)
        }
        let expected = MailEnvelope(
            mailFrom: "ann@here.test", recipients: ["bob@here.test", "c@there.test"])
        #expect(submission.envelope == expected)
        #expect(submission.deliveryStatus.map(\.delivered) == [.yes, .unknown])
        #expect(
            submission.deliveryStatus.map(\.smtpReply) == [
                "250 2.0.0 Delivered", "250 2.0.0 Delivered",
            ])
        #expect(box.submissions().list == [submission])
        #expect(
            try box.changes(of: .submission, since: old, limit: nil).created == [submission.id])
        let arrived = try await world.mail.messages(of: world.bob, page: 1)
        let source = try world.mail.content(of: arrived[0].id, of: world.bob).content.bytes
        #expect(
            String(decoding: source, as: UTF8.self)
                == "Return-Path: <ann@here.test>\r\nFrom: ann@here.test\r\nTo: bob@here.test\r\n"
                + "\r\ntext\r\n")
        #expect(world.mail.delivered().count == 1)
    }

    @Test func theSenderMustBeTheAccounts() async throws {
        var draft = try draft(fields)
        draft.envelope = MailEnvelope(mailFrom: "bob@here.test", recipients: ["a@b.test"])
        await #expect(throws: SubmissionSetError.forbiddenMailFrom) {
            try await self.world.mail.submit(draft, from: self.world.ann)
        }
        draft.envelope?.mailFrom = "ann+x@here.test"
        let submission = try await world.mail.submit(draft, from: world.ann)
        #expect(submission.envelope.mailFrom == "ann+x@here.test")
        #expect(try await world.mail.isAddress("Ann+y@here.test", of: world.ann))
        #expect(try await !world.mail.isAddress("bob@here.test", of: world.ann))
        // Without an envelope, the identity's address replaces another author's (RFC 8621 §7.5).
        let other = try self.draft("From: x@there.test|To: bob@here.test")
        #expect(
            try await world.mail.submit(other, from: world.ann).envelope.mailFrom
                == "ann@here.test")
    }

    @Test func whatCannotBeSentIsRefused() async throws {
        let cases: [(String, SubmissionSetError)] = [
            ("From: ann@here.test", .noRecipients), ("To: bob@here.test", .invalidEmail(["from"])),
            (
                "From: ann@here.test|To: bob@here.test, nobody@here.test, x y@z",
                .invalidRecipients(["nobody@here.test", "xy@z@"])
            ),
        ]
        for (fields, error) in cases {
            let draft = try draft(fields.replacing("x y@z", with: "xy@z@"))
            await #expect(throws: error) {
                try await self.world.mail.submit(draft, from: self.world.ann)
            }
        }
        var unknown = SubmissionDraft(emailID: "M1")
        await #expect(throws: SubmissionSetError.invalidProperties(["emailId"])) {
            try await self.world.mail.submit(unknown, from: self.world.ann)
        }
        unknown = try draft(fields)
        unknown.identityID = "I1"
        await #expect(throws: SubmissionSetError.invalidProperties(["identityId"])) {
            try await self.world.mail.submit(unknown, from: self.world.ann)
        }
        #expect(world.mail.delivered().isEmpty && box.submissions().list.isEmpty)
    }

    @Test func aHundredRecipientsAreTheMost() async throws {
        var draft = try draft(fields)
        draft.envelope = MailEnvelope(
            mailFrom: "ann@here.test", recipients: (0...100).map { "r\($0)@there.test" })
        await #expect(throws: SubmissionSetError.tooManyRecipients(100)) {
            try await self.world.mail.submit(draft, from: self.world.ann)
        }
        #expect(world.mail.delivered().isEmpty)
        draft.envelope?.recipients.removeLast()
        let submission = try await world.mail.submit(draft, from: world.ann)
        #expect(submission.deliveryStatus.count == 100)
    }

    @Test func failuresThatATestAsksForAreTold() async throws {
        let draft = try draft(fields)
        world.mail.fault = .message
        await #expect(throws: SubmissionSetError.forbiddenToSend) {
            try await self.world.mail.submit(draft, from: self.world.ann)
        }
        world.mail.fault = .recipient
        await #expect(
            throws: SubmissionSetError.invalidRecipients(["bob@here.test", "c@there.test"])
        ) {
            try await self.world.mail.submit(draft, from: self.world.ann)
        }
        world.mail.fault = .temporary
        await #expect(throws: SubmissionSetError.serverUnavailable) {
            try await self.world.mail.submit(draft, from: self.world.ann)
        }
        #expect(world.mail.delivered().isEmpty && box.submissions().list.isEmpty)
    }

    @Test(arguments: [
        ("busy@here.test", "bob@here.test"), ("ann@here.test", "busy@here.test"),
    ])
    func anAddressThatCannotBeLookedUpIsNotTheClientsFault(
        mailFrom: String, recipient: String
    ) async throws {
        var draft = try draft(fields)
        draft.envelope = MailEnvelope(mailFrom: mailFrom, recipients: ["c@there.test", recipient])
        await #expect(throws: SubmissionSetError.serverUnavailable) {
            try await self.world.mail.submit(draft, from: self.world.ann)
        }
        // Nothing was sent to the others, so that the client can repeat it.
        #expect(world.mail.delivered().isEmpty && box.submissions().list.isEmpty)
    }

    @Test func submissionsAreQueriedAndForgotten() async throws {
        var ids: [String] = []
        let draft = try draft(fields)
        for _ in 0..<3 {
            world.advance()
            ids.append(try await world.mail.submit(draft, from: world.ann).id)
        }
        var query = SubmissionQuery()
        #expect(try box.querySubmissions(query).ids == ids)
        query.sort = [.init(.sentAt, isAscending: false)]
        #expect(try box.querySubmissions(query).ids == ids.reversed())
        query.filter = .after(world.now)
        #expect(try box.querySubmissions(query).ids == [ids[2]])
        query = SubmissionQuery()
        query.filter = .undoStatus("pending")
        #expect(try box.querySubmissions(query).ids.isEmpty)
        #expect(box.destroySubmissions([ids[0], ids[0], "x"]) == [true, false, false])
        #expect(box.submissions().list.map(\.id) == Array(ids.dropFirst()))
    }

    @Test func theOldestSubmissionsAreDropped() async throws {
        var limits = MailLimits()
        limits.submissions = 2
        let world = MailWorld(limits: limits)
        defer { world.end() }
        let id = await world.deliver("From: ann@here.test|To: c@there.test")
        for _ in 0..<3 {
            _ = try await world.mail.submit(SubmissionDraft(emailID: id), from: world.ann)
        }
        #expect(world.box(world.ann).submissions().list.count == 2)
    }

    @Test(
        arguments: [
            ("Bcc: a\r\nTo: b\r\n\r\nBcc: c\r\n", "To: b\r\n\r\nBcc: c\r\n"),
            ("To: b\r\nbCC :\ta,\r\n b\r\n\tc\r\nX: y\r\n\r\n", "To: b\r\nX: y\r\n\r\n"),
            ("Bccx: a\r\nXBcc: b\r\n\r\n", "Bccx: a\r\nXBcc: b\r\n\r\n"),
            ("Bcc: a\nTo: b\n\nx", "To: b\n\nx"), ("Bcc: a", ""), ("", ""), ("x", "x"),
        ])
    func theBccFieldIsRemoved(message: String, sent: String) {
        #expect(BlindCopy.removed(from: Array(message.utf8)) == Array(sent.utf8))
    }
}
